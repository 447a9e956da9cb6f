#pragma once

#include <whittle/adapter/trajectory.hpp>
#include <whittle/base/clock.hpp>
#include <whittle/tokens/counter.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace agent {

/// Keeps every message as it arrived, before anything is cleared, with the time; what `whittle replay` reads.
class Recorder {
public:
    /// An empty `file`: nothing is written.
    Recorder(std::filesystem::path file, std::string id, std::string system, std::vector<whittle::ToolSpec> tools,
             std::shared_ptr<const whittle::TokenCounter> counter);

    void add(const whittle::openai::Message& message);
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
    whittle::Timestamp start_;
    whittle::Trajectory<> session_{};
    std::int64_t tokens_ = 0;
};

}  // namespace agent
