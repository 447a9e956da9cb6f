#include "recorder.hpp"

#include "files.hpp"

#include <whittle/base/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace agent {
namespace {

using whittle::PartKind;

std::size_t count_parts(const whittle::openai::Message& message, PartKind kind) {
    std::size_t count = 0;
    whittle::message_traits<whittle::openai::Message>::for_each_part(
        message, [&](const whittle::PartView& part) { count += part.kind == kind ? 1 : 0; });
    return count;
}

/// Passes on, and keeps.
class Tee final : public whittle::PartSink {
public:
    explicit Tee(whittle::PartSink& out) : out_(out) {}
    void write(std::string_view text) override {
        kept_.write(text);
        out_.write(text);
    }
    void push(whittle::Part part) override {
        kept_.push(part);
        out_.push(std::move(part));
    }
    void mark_stored(whittle::StoredPart stored) override { out_.mark_stored(std::move(stored)); }

    [[nodiscard]] OriginalResult take(bool has_thrown) {
        OriginalResult result{.parts = kept_.take(), .has_thrown = has_thrown};
        for (const whittle::Part& part : result.parts) result.bytes += part.text.size();
        return result;
    }

private:
    whittle::PartSink& out_;
    whittle::CollectingSink kept_{};
};

}  // namespace

std::vector<whittle::openai::Message> load_session(const std::filesystem::path& file) {
    auto sessions = whittle::load_trajectories<whittle::openai::Message>(file);
    if (sessions.size() != 1)
        throw whittle::Error(whittle::Errc::invalid_argument,
                             fmt::format("resume {}: it holds {} sessions", file.string(), sessions.size()));
    std::vector<whittle::openai::Message> messages = std::move(sessions[0].messages);
    std::size_t results = 0;
    for (auto last = messages.end(); last != messages.begin();) {
        const std::size_t found = count_parts(*--last, PartKind::tool_result);
        results += found;
        if (found > 0) continue;
        if (count_parts(*last, PartKind::tool_call) > results) messages.erase(last, messages.end());
        break;
    }
    return messages;
}

whittle::ToolOutcome OriginalResults::wrap_tool(const whittle::ToolContext& context, whittle::PartSink& out,
                                                const whittle::ToolNext& next) {
    Tee tee(out);
    const auto keep = [&](bool has_thrown) {
        const std::lock_guard lock(mutex_);
        by_name_.insert_or_assign(context.key_safe_call_id, tee.take(has_thrown));
    };
    try {
        whittle::ToolOutcome outcome = next(context, tee);
        keep(false);
        return outcome;
    } catch (...) {
        keep(true);
        throw;
    }
}

std::optional<OriginalResult> OriginalResults::take(const whittle::ToolContext& context) {
    const std::lock_guard lock(mutex_);
    auto found = by_name_.extract(context.key_safe_call_id);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
}

Recorder::Recorder(std::filesystem::path file, std::string id, std::string system, std::vector<whittle::ToolSpec> tools,
                   std::shared_ptr<const whittle::TokenCounter> counter)
    : file_(std::move(file)), counter_(std::move(counter)), start_(clock_->now()) {
    session_.id = std::move(id);
    session_.system = std::move(system);
    session_.tools = std::move(tools);
    tokens_ = whittle::count_overhead(session_.system, session_.tools, *counter_);
}

void Recorder::add(const whittle::openai::Message& message) {
    session_.messages.push_back(message);
    session_.seconds_since_first.emplace_back(static_cast<double>(clock_->now() - start_) / 1'000.0);
    tokens_ += whittle::count_message(message, *counter_);
}

void Recorder::expect(const whittle::ToolContext& context) {
    expected_.emplace_back(context.key_safe_call_id, std::nullopt);
}

void Recorder::add_result(const whittle::ToolContext& context, whittle::ToolResult result,
                          std::optional<OriginalResult> original) {
    if (original) {
        if (original->has_thrown && !result.parts.empty()) original->parts.push_back(result.parts.back());
        result.parts = std::move(original->parts);
    }
    for (auto& [name, expected] : expected_) {
        if (name == context.key_safe_call_id) expected = std::move(result);
    }
    while (!expected_.empty() && expected_.front().second) {
        const whittle::ToolResult next = *std::exchange(expected_.front().second, std::nullopt);
        expected_.erase(expected_.begin());
        for (const auto& message : whittle::message_traits<whittle::openai::Message>::make_tool_results({&next, 1}))
            add(message);
    }
}

void Recorder::catch_up(std::span<const whittle::openai::Message> messages) {
    for (std::size_t i = session_.messages.size(); i < messages.size(); ++i) add(messages[i]);
}

void Recorder::save() const {
    if (!file_.empty()) write_whole(file_, whittle::to_json_line(session_) + "\n");
}

}  // namespace agent
