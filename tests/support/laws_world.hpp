// A conversation with a chain around one middleware, driven as an agent loop drives it.
#pragma once

#include "generators_messages.hpp"
#include "laws_snapshot.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/chain/chain.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

/// A store that knows which writes it has acknowledged.
class RecordingStorage final : public Storage {
public:
    explicit RecordingStorage(std::shared_ptr<Storage> inner) : inner_(std::move(inner)) {}

    void put_if_absent(std::string_view key, std::string_view content) override {
        if (before_put) before_put();
        inner_->put_if_absent(key, content);
        acknowledged_.emplace(key, content);
    }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        return inner_->get(key, offset, max_bytes);
    }
    std::optional<ObjectInfo> stat(std::string_view key) override { return inner_->stat(key); }

    [[nodiscard]] const std::map<std::string, std::string, std::less<>>& acknowledged() const noexcept {
        return acknowledged_;
    }

    std::function<void()> before_put{};  ///< called at each write, before it is carried out

private:
    std::shared_ptr<Storage> inner_;
    std::map<std::string, std::string, std::less<>> acknowledged_{};
};

template <AgentMessage M>
using Stages = std::vector<std::shared_ptr<Middleware<M>>>;

/// What a registered middleware is tried with, and which promises are not its own.
struct LawOptions {
    bool with_storage = true;
    bool verify = true;  ///< false only to show that L1 can fail
    Language language = Language::english;
    bool keeps_protected_tools = true;  ///< false: not a pruning or clearing middleware (L7)
    bool keeps_pins = true;             ///< false: has a user's own rewriter (L7)
    std::int64_t context_window = 0;    ///< of the model's profile
    bool looks_at_sizes_only = true;    ///< its plans follow sizes and places, not words; L11 needs it to compare
    std::int64_t compact_now_to = 0;  ///< tokens that the host asks for before each model call; 0: it asks for nothing
    std::function<bool(const CommitPlan&)> before_commit{};  ///< the host's, a function of the plan alone
    std::function<std::shared_ptr<Storage>()> make_storage = [] { return memory_storage(); };
};

/// A middleware under test, on one message type.
template <AgentMessage M>
struct Subject {
    std::function<Stages<M>()> make;
    LawOptions options{};
    std::function<M(const M&)> arrive = [](const M& m) { return m; };  ///< how a message gets to the conversation
};

/// How one run differs from the plain one.
template <AgentMessage M>
struct WorldOptions {
    ValidityProfile validity = *law_profiles<M>().front();
    OnError on_error = OnError::skip;
    std::shared_ptr<Storage> storage{};  ///< instead of the subject's own
    ChainCallbacks<M> callbacks{};
    std::optional<Stages<M>> stages{};  ///< instead of fresh ones
};

inline const std::vector<ToolSpec>& law_tools() {
    static const std::vector<ToolSpec> tools{{"read_file", "reads", "{}"}};
    return tools;
}

template <AgentMessage M>
class World {
public:
    explicit World(const Subject<M>& subject, WorldOptions<M> options = {})
        : storage(
              std::make_shared<RecordingStorage>(options.storage ? options.storage : subject.options.make_storage())),
          chain(make_config(subject.options, options), std::move(options.callbacks),
                options.stages ? *options.stages : subject.make()),
          compact_now_to_(subject.options.compact_now_to),
          arrive_(subject.arrive) {}

    void push(const M& m, const std::optional<Usage>& usage = std::nullopt) {
        originals.push_back(m);
        conversation.push_back(m, usage);
        clock->advance(std::chrono::milliseconds(7));
    }

    const Report& ask(StopToken stop = {}) {
        const HookRequest<M> request{.tools = law_tools(), .system = "be brief", .stop = std::move(stop)};
        if (compact_now_to_ > 0) {
            const Report& report = chain.compact_now(conversation, {.target_tokens = compact_now_to_}, request);
            if (report.changed()) return report;
        }
        return chain.before_model(conversation, request);
    }

    /// Pushes the history; asks before every reply, and at the end. `visit` runs instead of `ask`, and has to ask.
    template <typename Visit>
    void drive(const History& history, Visit&& visit) {
        for (const ChatMessage& m : shaped<M>(history)) {
            if (m.role == Role::assistant) visit();
            if (push_shortened(m)) continue;
            bool is_first = true;
            for (const M& built : Builder<M>::build(m))
                push(arrive_(as_hosts_write_it(built)), std::exchange(is_first, false) ? m.usage : std::nullopt);
            if (conversation.size() == 4) conversation.pin(originals_serial(2));
        }
        visit();
    }

    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1'000);
    std::shared_ptr<RecordingStorage> storage;
    Chain<M> chain;
    Conversation<M> conversation{"laws"};
    std::vector<M> originals{};

private:
    std::int64_t compact_now_to_ = 0;
    std::function<M(const M&)> arrive_;

    /// Results that somebody waits for, through the chain's tool wraps; in turns in the host's own messages and as
    /// results that the conversation makes messages of. False if these leave them as they are.
    bool push_shortened(const ChatMessage& m) {
        if constexpr (ToolMessage<M>) {
            return originals.size() % 2 == 0 ? push_own_messages(m) : push_returns(m);
        } else {
            return false;
        }
    }

    static bool is_whole(const ToolReturn& r) { return r.stored.empty() && !r.original; }

    bool push_own_messages(const ChatMessage& m) {
        std::vector<M> own;
        for (const M& built : Builder<M>::build(m)) own.push_back(arrive_(as_hosts_write_it(built)));
        const std::vector<ToolReturn> returns = chain.wrap_results(conversation, own, {.tools = law_tools()});
        if (std::ranges::all_of(returns, is_whole)) return false;
        originals.insert(originals.end(), own.begin(), own.end());
        conversation.push_tool_results(own, returns);
        clock->advance(std::chrono::milliseconds(7));
        return true;
    }

    bool push_returns(const ChatMessage& m) requires ToolMessage<M> {
        const auto calls = chain.pending_tool_calls(conversation, {.tools = law_tools()});
        std::vector<ToolResult> raw;
        std::vector<ToolReturn> returns;
        for (ToolResult& result : results_of(m)) {
            const auto call = std::ranges::find(calls, result.call_id, &ToolContext::call_id);
            if (call == calls.end()) return false;
            result.tool = call->tool;
            returns.push_back(wrap(*call, result));
            raw.push_back(std::move(result));
        }
        if (std::ranges::all_of(returns, is_whole)) return false;
        for (M& original : message_traits<M>::make_tool_results(raw)) originals.push_back(std::move(original));
        conversation.push_tool_results(returns);
        clock->advance(std::chrono::milliseconds(7));
        return true;
    }

    /// The texts of each call that `m` answers; none if `m` holds anything else.
    static std::vector<ToolResult> results_of(const ChatMessage& m) {
        std::vector<ToolResult> results;
        for (const Part& part : m.parts) {
            if (part.kind != PartKind::tool_result) return {};
            if (results.empty() || results.back().call_id != part.call_id)
                results.push_back({part.call_id, {}, {}, part.is_error});
            results.back().parts.push_back({.text = part.text});
        }
        return results;
    }

    ToolReturn wrap(const ToolContext& call, const ToolResult& raw) const {
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
            for (const Part& part : raw.parts) out.push(part);
            return ToolOutcome{.is_error = raw.is_error};
        });
        return collect_tool_return(call, sink, std::move(outcome));
    }

    [[nodiscard]] Serial originals_serial(std::size_t index) const { return conversation.outline()[index].serial; }

    [[nodiscard]] ChainConfig make_config(const LawOptions& subject, const WorldOptions<M>& options) const {
        ChainConfig config;
        config.profile.validity = options.validity;
        config.profile.context_window = subject.context_window;
        config.on_error = options.on_error;
        config.verify = subject.verify;
        config.before_commit = subject.before_commit;
        if (subject.with_storage) config.storage = storage;
        config.language = subject.language;
        config.clock = clock;
        config.ids = counting_ids();
        config.random = std::make_shared<SeededRandom>(1);
        return config;
    }
};

}  // namespace whittle::testing
