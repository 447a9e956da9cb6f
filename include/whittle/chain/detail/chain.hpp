#pragma once

// Definitions of Chain<M>; included by chain.hpp.

#include "whittle/base/event.hpp"
#include "whittle/chain/chain.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace whittle::inline v0 {

template <AgentMessage M>
void Chain<M>::check_configuration() {
    std::vector<std::string_view> names;
    std::vector<std::string_view> tasks;
    for (const auto& stage : stages_) {
        names.push_back(stage ? stage->name() : std::string_view("(null)"));
        tasks.push_back(stage ? stage->exclusive_task() : std::string_view());
    }
    const ChainInfo info{config_, names, tasks};
    Problems problems;
    detail::check_chain(info, problems);
    for (const auto& stage : stages_) {
        if (stage) stage->check(info, problems);
    }
    problems.throw_if_errors("make chain");
    for (const auto& stage : stages_) std::ranges::move(stage->extra_readable_roots(), std::back_inserter(roots_));
    add_own_stages();
    warnings_ = problems.all();
    for (const Problem& warning : warnings_) detail::emit_warning(callbacks_.on_event, warning);
}

template <AgentMessage M>
void Chain<M>::add_own_stages() {
    if (config_.repair) own_stages_.push_back(std::make_shared<RepairStage>());
    if (config_.profile.thinking_bound_to_prefix) own_stages_.push_back(std::make_shared<ThinkingStage>());
    std::vector<std::string> names;
    for (const Stages* stages : {&own_stages_, &stages_}) {
        for (const auto& stage : *stages) names.emplace_back(stage->name());
    }
    names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
}

template <AgentMessage M>
void Chain<M>::allow_roots(const Conversation<M>& conversation) const {
    if (conversation.history_.side.objects == nullptr) return;
    for (const std::string& root : roots_) conversation.history_.side.objects->allow(root + "/");
}

template <AgentMessage M>
void Chain<M>::warn_missing_tools(std::span<const ToolSpec> tools) const {
    if (tools_checked_->test(std::memory_order_relaxed) || tools_checked_->test_and_set()) return;
    std::vector<std::string_view> names;
    for (const auto& stage : stages_) names.push_back(stage->name());
    Problems problems;
    for (const auto& stage : stages_) stage->check_tools({config_, names}, tools, problems);
    for (const Problem& problem : problems.all()) detail::emit_warning(callbacks_.on_event, problem);
}

/// What of a hook needs messages.
template <AgentMessage M>
class Chain<M>::Run final : public detail::HookRun {
public:
    Run(const Chain& chain, Conversation<M>& conversation, const HookRequest<M>& request, Hook hook, HookCall call)
        : HookRun({chain.config_, chain.callbacks_.on_event, chain.callbacks_.on_report, conversation.history_.side,
                   conversation.report_, conversation.in_hook_, chain.names_, chain.own_stages_.size()},
                  hook),
          chain_(chain),
          conversation_(conversation),
          request_(request),
          call_(call) {}

private:
    [[nodiscard]] ContextCount count() override {
        return conversation_.context(chain_.config_.token_counter, request_.system, request_.tools);
    }
    [[nodiscard]] detail::Savepoint savepoint() const override {
        return {conversation_.history_.journal.size(), conversation_.history_.side.savepoint()};
    }
    void roll_back(const detail::Savepoint& to) noexcept override { detail::roll_back(conversation_.history_, to); }
    void settle(std::size_t from_entry) noexcept override { detail::settle(conversation_.history_, from_entry); }
    void call(std::size_t stage, StageReport& report) override {
        Turn<M> turn{conversation_, chain_.config_, chain_.callbacks_, request_, budget_, report, chain_.language()};
        const std::size_t own = chain_.own_stages_.size();
        if (is_fitting()) {
            if (is_too_large(turn)) chain_.stages_[stage - own]->on_overflow(turn, {.requested_tokens = report.count});
            return;
        }
        stage < own ? chain_.own_stages_[stage]->before_model(turn) : call_(*chain_.stages_[stage - own], turn);
    }

    const Chain& chain_;
    Conversation<M>& conversation_;
    const HookRequest<M>& request_;
    HookCall call_;
};

template <AgentMessage M>
const Report& Chain<M>::run(Conversation<M>& conversation, const HookRequest<M>& request, Hook hook,
                            HookCall call) const {
    conversation.require_outside_hook(to_string(hook));
    allow_roots(conversation);
    conversation.history_.side.columns.set_model(config_.profile.name);
    const std::size_t from = conversation.history_.journal.size();
    Run(*this, conversation, request, hook, call).run();
    if (callbacks_.on_evicted) detail::report_evictions(conversation, from, callbacks_);
    return conversation.report_;
}

template <AgentMessage M>
bool Chain<M>::on_overflow(Conversation<M>& conversation, const Overflow& overflow,
                           const HookRequest<M>& request) const {
    detail::OverflowGoal goal(overflow, conversation.notes(detail::chain_notes), config_.profile);
    const Report& report = run(conversation, request, Hook::on_overflow, [&](Middleware<M>& m, Turn<M>& turn) {
        if (goal.is_missed(turn)) m.on_overflow(turn, overflow);
    });
    return report.tokens_after < report.tokens_before;
}

template <AgentMessage M>
const Report& Chain<M>::compact_now(Conversation<M>& conversation, const CompactOptions& options,
                                    const HookRequest<M>& request) const {
    Chain limited(*this);
    detail::limit_to(limited.config_, options, conversation.outline());
    std::int64_t target = options.target_tokens;
    return limited.run(conversation, request, Hook::compact_now, [&](Middleware<M>& m, Turn<M>& turn) {
        if (detail::is_above_target(turn, target)) m.compact_now(turn);
    });
}

/// Under OnError::skip a failing middleware is passed over; what the model throws is the caller's.
template <AgentMessage M>
Reply<M> Chain<M>::generate_from(std::size_t stage, Model<M>& model, const ModelRequest<M>& request) const {
    if (stage == stages_.size()) return model.generate(request);
    bool is_models_failure = false;
    std::optional<Reply<M>> reply;
    const auto next = [&](const ModelRequest<M>& inner) {
        is_models_failure = true;
        Reply<M> got = generate_from(stage + 1, model, inner);
        is_models_failure = false;
        if (config_.on_error == OnError::skip) reply = got;
        return got;
    };
    try {
        return stages_[stage]->wrap_model(request, next);
    } catch (const ModelError&) {
        throw;
    } catch (...) {
        if (is_models_failure || config_.on_error == OnError::propagate) throw;
        detail::emit_failure(callbacks_.on_event, stages_[stage]->name(), {}, detail::current_error_text());
    }
    return reply ? *std::move(reply) : generate_from(stage + 1, model, request);
}

/// Under OnError::skip a middleware that fails after the tool wrote into its sink is passed over. One that fails before
/// keeps the tool from running: it may be a guard.
template <AgentMessage M>
ToolOutcome Chain<M>::wrap_from(std::size_t stage, const ToolContext& context, PartSink& out,
                                const ToolNext& tool) const {
    if (stage == stages_.size()) return tool(context, out);
    std::optional<ToolOutcome> outcome;
    const auto next = [&](const ToolContext& inner, PartSink& sink) {
        outcome.reset();
        ToolOutcome got = wrap_from(stage + 1, inner, sink, tool);
        if (&sink == &out && config_.on_error == OnError::skip) outcome = got;
        return got;
    };
    try {
        return stages_[stage]->wrap_tool(context, out, next);
    } catch (...) {
        if (!outcome) throw;
        detail::emit_failure(context.events != nullptr ? *context.events : callbacks_.on_event, stages_[stage]->name(),
                             context.conversation_id, detail::current_error_text());
    }
    return *std::move(outcome);
}

template <AgentMessage M>
std::vector<ToolContext> Chain<M>::pending_tool_calls(const Conversation<M>& conversation,
                                                      const HookRequest<M>& request) const {
    allow_roots(conversation);
    std::vector<ToolContext> calls =
        detail::open_calls(conversation.outline(),
                           {.tools = request.tools,
                            .conversation_id = conversation.id(),
                            .storage = config_.storage,
                            .objects = conversation.objects(),
                            .caches = conversation.history_.side.caches.get(),
                            .counter = config_.token_counter,
                            .stop = request.stop,
                            .clock = config_.clock,
                            .language = language(),
                            .events = &callbacks_.on_event,
                            .on_middleware_error = config_.on_error},
                           [&](std::size_t message, FunctionRef<void(const PartView&)> visit) {
                               message_traits<M>::for_each_part(conversation.messages()[message], visit);
                           });
    detail::note_repeated_calls(conversation, calls);
    return calls;
}

template <AgentMessage M>
std::vector<ToolReturn> Chain<M>::wrap_results(const Conversation<M>& conversation, std::span<const M> messages,
                                               const HookRequest<M>& request, const EventSink& on_event) const {
    std::vector<ToolReturn> returns;
    if (std::ranges::none_of(messages, detail::holds_results<M>)) return returns;
    const EventSink both = [&](const Event& event) {
        emit(callbacks_.on_event, event);
        on_event(event);
    };
    std::vector<ToolContext> calls = pending_tool_calls(conversation, request);
    detail::ByCallId<ToolContext> waiting;
    for (ToolContext& call : calls) {
        call.events = on_event ? &both : call.events;
        waiting.add(call.call_id, call);
    }
    for (const M& message : messages) {
        if (!detail::holds_results(message)) continue;
        for (const detail::HostResult& host : detail::host_results(message)) {
            const ToolContext* const context = waiting.take(host.result.call_id);
            if (context == nullptr) continue;
            if (request.stop.stop_requested()) throw Error(Errc::cancelled, "wrap tool results: stopped");
            CollectingSink sink;
            ToolOutcome outcome = wrap_tool(*context, sink, [&](const ToolContext&, PartSink& out) {
                detail::push_parts(host.result.parts, out);
                return ToolOutcome{.is_error = host.result.is_error};
            });
            returns.push_back(collect_tool_return(*context, sink, std::move(outcome)));
        }
    }
    return returns;
}

}  // namespace whittle::inline v0
