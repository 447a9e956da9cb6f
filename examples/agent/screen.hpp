#pragma once

#include "figures.hpp"
#include "sandbox.hpp"

#include <whittle/adapter/openai.hpp>
#include <whittle/chain/report.hpp>
#include <whittle/chain/tool.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace agent {

/// Writes one line per step, at most 100 columns wide, and keeps the figures of the run.
class Screen {
public:
    /// `has_colour`: cleared results are shown in green, errors in red.
    Screen(std::FILE* out, const Sandbox& sandbox, bool has_colour)
        : out_(out), sandbox_(sandbox), has_colour_(has_colour) {}

    void headings();
    /// One model call: the size of the request, what it would be without clearing, and the reply.
    void step(std::int64_t sent, std::int64_t raw, const whittle::openai::Message& reply);
    void report(const whittle::Report& report);
    void tool_end(const whittle::ToolContext& context, const whittle::ToolResult& result);
    void line(std::string_view text);

    [[nodiscard]] const Figures& figures() const noexcept { return figures_; }

private:
    [[nodiscard]] std::string describe(const std::string& tool, const nlohmann::json& arguments) const;
    void note(std::string_view colour, std::string_view text);
    void count(const whittle::ToolContext& context, const std::string& text, bool is_error);

    std::FILE* out_;
    const Sandbox& sandbox_;
    bool has_colour_;
    Figures figures_{};
};

}  // namespace agent
