#pragma once

#include "figures.hpp"
#include "sandbox.hpp"
#include "status_line.hpp"

#include <whittle/conversation/report.hpp>
#include <whittle/conversation/tool.hpp>
#include <whittle/openai/openai.hpp>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

namespace agent {

/// How a screen looks.
struct ScreenStyle {
    bool has_colour = false;  ///< cleared and shortened results are shown in green, errors in red
    bool is_live = false;     ///< a status line at the foot; only for a terminal
};

/// `text` with a space for each control character but line ends: a model's text must not steer the terminal.
[[nodiscard]] std::string without_controls(std::string_view text);

/// Writes one line per step, at most 100 columns wide, and keeps the figures of the run. Used on one thread.
class Screen {
public:
    /// `window`: tokens that the model takes, 0 if that is not known.
    Screen(std::FILE* out, const Sandbox& sandbox, std::int64_t window, ScreenStyle style)
        : out_(out), sandbox_(sandbox), window_(window), has_colour_(style.has_colour), status_(out, style.is_live) {}

    void headings();
    /// One model call: the size of the request, what it would be without clearing, and the reply.
    void step(std::int64_t sent, std::int64_t raw, const whittle::openai::Message& reply);
    void report(const whittle::Report& report);
    void tool_start(const whittle::ToolContext& context);
    /// `original_bytes`: text that the tool gave.
    void tool_end(const whittle::ToolContext& context, const whittle::ToolResult& result, std::size_t original_bytes);
    void line(std::string_view text);
    /// A piece of the model's text, as it streams, without control characters.
    void stream(std::string_view text);
    /// Nothing more will happen: the status line goes.
    void end_of_run();

    [[nodiscard]] const Figures& figures() const noexcept { return figures_; }

private:
    [[nodiscard]] std::string describe(const std::string& tool, const nlohmann::json& arguments) const;
    void note(std::string_view colour, std::string_view text);
    void count(const whittle::ToolContext& context, const std::string& text, bool is_error);
    void show_status();

    std::FILE* out_;
    const Sandbox& sandbox_;
    std::int64_t window_;
    bool has_colour_;
    bool is_running_ = false;
    bool is_in_line_ = false;  ///< streamed text stands in a line that has not ended
    Figures figures_{};
    std::int64_t context_tokens_ = 0;
    std::multiset<std::string> running_{};  ///< names of tools
    StatusLine status_;
};

}  // namespace agent
