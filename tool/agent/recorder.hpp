#pragma once

#include <whittle/base/clock.hpp>
#include <whittle/chain/middleware.hpp>
#include <whittle/saved/trajectory.hpp>
#include <whittle/tokens/counter.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agent {

/// What a tool gave.
struct OriginalResult {
    std::vector<whittle::Part> parts{};
    std::size_t bytes = 0;    ///< of text
    bool has_thrown = false;  ///< then what the model sees ends with the reason
};

/// Keeps what tools give, before the rest of the chain shortens it: the last middleware of a chain is the innermost.
/// Tools may run in parallel.
class OriginalResults final : public whittle::Middleware<whittle::openai::Message> {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "original_results"; }
    whittle::ToolOutcome wrap_tool(const whittle::ToolContext& context, whittle::PartSink& out,
                                   const whittle::ToolNext& next) override;

    /// What the tool gave to that call. Nullopt if it was not called: there is no such tool, or not with such
    /// arguments.
    [[nodiscard]] std::optional<OriginalResult> take(const whittle::ToolContext& context);

private:
    std::mutex mutex_{};
    std::map<std::string, OriginalResult> by_name_{};
};

/// The messages of a recorded session, without a tool round at its end that misses results. Throws
/// whittle::Error(invalid_argument) for a file of no or several sessions, and what `load_trajectories` throws.
[[nodiscard]] std::vector<whittle::openai::Message> load_session(const std::filesystem::path& file);

/// Keeps every message as it arrived, before anything is cleared, with the time; what `whittle replay` reads.
class Recorder {
public:
    /// An empty `file`: nothing is written.
    Recorder(std::filesystem::path file, std::string id, std::string system, std::vector<whittle::ToolSpec> tools,
             std::shared_ptr<const whittle::TokenCounter> counter);

    void add(const whittle::openai::Message& message);
    /// A call whose result will come. In the order of the calls.
    void expect(const whittle::ToolContext& context);
    /// In any order: results are added in that of the calls. `original`: instead of what is shown of it.
    void add_result(const whittle::ToolContext& context, whittle::ToolResult result,
                    std::optional<OriginalResult> original);
    /// Adds those at the end of `messages` that did not come through `add`.
    void catch_up(std::span<const whittle::openai::Message> messages);
    /// Replaces the file, in one step. Throws whittle::Error(storage_failed).
    void save() const;

    [[nodiscard]] const std::vector<whittle::openai::Message>& messages() const noexcept { return session_.messages; }
    /// The size of a request with everything in it.
    [[nodiscard]] std::int64_t tokens() const noexcept { return tokens_; }

private:
    std::filesystem::path file_;
    std::shared_ptr<const whittle::TokenCounter> counter_;
    std::shared_ptr<whittle::Clock> clock_ = whittle::system_clock();
    whittle::UnixMillis start_;
    whittle::Trajectory<> session_{};
    std::int64_t tokens_ = 0;
    std::vector<std::pair<std::string, std::optional<whittle::ToolResult>>> expected_{};
};

}  // namespace agent
