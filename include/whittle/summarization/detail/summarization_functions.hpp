#pragma once

#include "whittle/base/event.hpp"
#include "whittle/summarization/callbacks.hpp"
#include "whittle/summarization/detail/summarize.hpp"
#include "whittle/summary/detail/summary_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// The callbacks of one `Summarization<M>` and its model, for one summary.
template <AgentMessage M>
class SummarizationHost {
public:
    /// All are borrowed. `edit`: the draft of the summary; `model`: null where there is none.
    SummarizationHost(Turn<M>& turn, Transaction<M>& edit, const SummarizationConfig& config,
                      const SummarizationCallbacks<M>& callbacks, const std::shared_ptr<Model<M>>& model)
        : turn_(turn), edit_(edit), config_(config), callbacks_(callbacks), model_(model) {}
    SummarizationHost(const SummarizationHost&) = delete;
    SummarizationHost& operator=(const SummarizationHost&) = delete;
    ~SummarizationHost() = default;

    /// Borrows this.
    [[nodiscard]] SummarizationFunctions functions();
    void keep_before() {
        if (!callbacks_.callback) return;
        const MessageView<M> messages = turn_.conversation.messages();
        before_.assign(messages.begin(), messages.end());
    }
    /// Tells the host of the list with the summary.
    void notify_done(std::span<const M> after) {
        call_user(after);
        notify(AfterSummarize<M>{MessageView<M>(after)}, "after_summarize", "the summary stands");
    }

private:
    void record(std::span<const std::size_t> fold);
    [[nodiscard]] SummaryGenerationOutcome generate(const SummaryOrder& order, SummaryGenerationState& state);
    [[nodiscard]] SummaryGenerationOutcome generate_with_prefix(const SummaryOrder& order,
                                                                SummaryGenerationState& state) const;
    [[nodiscard]] SummaryGenerationCallbacks<M> summary_generation_callbacks() const;
    [[nodiscard]] SummaryGenerationCallbacks<M> prefix_callbacks(const SummaryOrder& order) const;
    [[nodiscard]] std::vector<M> own_prefix_and(const SummaryOrder& order, const M& system, const M& user) const;
    void finalize(std::string_view summary, Role role, FunctionRef<Provenance(std::span<const std::size_t>)> carry);
    void stage_made(std::size_t first, std::size_t last, std::vector<M> made, Role role, Provenance provenance);
    void warn_nothing_carries(const Provenance& lost) const;
    void notify(const SummarizationEvent<M>& event, std::string_view kind, std::string_view text) const;
    void call_user(std::span<const M> after);

    Turn<M>& turn_;
    Transaction<M>& edit_;
    const SummarizationConfig& config_;
    const SummarizationCallbacks<M>& callbacks_;
    const std::shared_ptr<Model<M>>& model_;
    std::vector<M> before_{};
};

template <AgentMessage M>
SummarizationFunctions SummarizationHost<M>::functions() {
    SummarizationFunctions functions;
    if (model_)
        functions.generate = [this](const SummaryOrder& order, SummaryGenerationState& state) {
            return generate(order, state);
        };
    if (!callbacks_.finalize && !callbacks_.gen_model_input && !config_.reuse_prompt_cache)
        functions.prepare = preparing(turn_, edit_, model_, {callbacks_.retry, callbacks_.failover, {}, {}},
                                      callbacks_.prepare_executor, turn_.config.token_counter);
    functions.record = [this](std::span<const std::size_t> fold) { record(fold); };
    functions.on_due = [this] {
        notify(BeforeSummarize<M>{turn_.conversation.messages()}, "before_summarize", "a summary is due");
    };
    functions.before_commit = [this] { keep_before(); };
    functions.on_done = [this] { notify_done(turn_.conversation.messages()); };
    if (callbacks_.user_message_filter)
        functions.user_message_filter = [this](std::size_t message) {
            return callbacks_.user_message_filter(turn_.callback_context(), turn_.conversation.messages()[message]);
        };
    if (callbacks_.attach_files)
        functions.attach_files = [this](std::span<const FileUse> files) {
            return callbacks_.attach_files(turn_.callback_context(), files);
        };
    if (callbacks_.finalize)
        functions.finalize = [this](std::string_view summary, Role role,
                                    FunctionRef<Provenance(std::span<const std::size_t>)> carry) {
            finalize(summary, role, carry);
        };
    if (callbacks_.transcript) functions.transcript_path = callbacks_.transcript->path();
    return functions;
}

template <AgentMessage M>
void SummarizationHost<M>::record(std::span<const std::size_t> fold) {
    if (callbacks_.transcript) callbacks_.transcript->record(turn_);
    if (!callbacks_.flush_memory) return;
    const MessageView<M> all = turn_.conversation.messages();
    std::vector<const void*> folded;
    for (const std::size_t i : fold) folded.push_back(&all[i]);
    callbacks_.flush_memory(turn_.callback_context(), OriginalMessages<M>(all, MessageView<M>::at(folded)));
}

/// The messages that the finalizer left at the front and at the back are untouched; what is between is replaced.
template <AgentMessage M>
void SummarizationHost<M>::finalize(std::string_view summary, Role role,
                                    FunctionRef<Provenance(std::span<const std::size_t>)> carry) {
    const std::span<const M> old = turn_.conversation.messages();
    const FinalizeContext context{turn_.callback_context(), turn_.outline(), turn_.config.token_counter, turn_.language,
                                  role};
    std::vector<M> made = callbacks_.finalize(context, old, message_traits<M>::make(role, summary));
    if (made.empty()) throw Error(Errc::callback_failed, "finalize: no messages came back");
    const std::size_t most = (std::min)(old.size(), made.size());
    std::size_t front = 0;
    while (front < most && same_message(old[front], made[front])) ++front;
    std::size_t back = 0;
    while (back < most - front && same_message(old[old.size() - 1 - back], made[made.size() - 1 - back])) ++back;
    if (front == old.size() && front == made.size())
        throw Error(Errc::callback_failed, "finalize: it gave the same list back");
    std::vector<std::size_t> replaced;
    for (std::size_t i = front; i < old.size() - back; ++i) replaced.push_back(i);
    Provenance provenance = carry(replaced);
    made.erase(made.end() - static_cast<std::ptrdiff_t>(back), made.end());
    made.erase(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(front));
    edit_.allow_editing_pinned(true);
    stage_made(front, old.size() - back, std::move(made), role, std::move(provenance));
}

/// What is carried is noted at one of the new messages only: the last one that may be the summary, else the last one.
/// Other system texts are no summaries: the next fold leaves them alone.
template <AgentMessage M>
void SummarizationHost<M>::stage_made(std::size_t first, std::size_t last, std::vector<M> made, Role role,
                                      Provenance provenance) {
    const auto is_system = [](const M& m) { return message_traits<M>::role(m) == Role::system; };
    const auto is_free = [&](const M& m) { return role == Role::system || !is_system(m); };
    const auto carrier = std::find_if(made.rbegin(), made.rend(), is_free);
    const auto found = static_cast<std::size_t>(made.rend() - carrier);  // 0: there is none
    const std::size_t main = found > 0 ? found : made.size();
    if (main == 0) warn_nothing_carries(provenance);
    const Provenance plain{.origin = Origin::summary, .reason = "summary", .covers = provenance.covers};
    const Provenance instruction{.origin = Origin::nudge, .reason = "summary", .covers = provenance.covers};
    edit_.erase_range(first, last, plain);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const Provenance& other = is_system(made[i]) ? instruction : plain;
        edit_.insert(first + i, std::move(made[i]), i + 1 == main ? std::move(provenance) : other);
    }
}

template <AgentMessage M>
void SummarizationHost<M>::warn_nothing_carries(const Provenance& lost) const {
    if (lost.verbatim_user_messages.empty() && lost.skill_records.empty()) return;
    const std::string text = "finalize left no new message: " + std::to_string(lost.verbatim_user_messages.size()) +
                             " user messages and " + std::to_string(lost.skill_records.size()) +
                             " skills are not carried any further";
    emit(turn_.on_event,
         {Event::Level::warning, turn_.report.middleware, "nothing_carries", text, turn_.conversation_id(), 0, 0});
}

/// From the agent's own prefix where that is wanted and fits, else from the messages as data.
template <AgentMessage M>
SummaryGenerationOutcome SummarizationHost<M>::generate(const SummaryOrder& order, SummaryGenerationState& state) {
    if (config_.reuse_prompt_cache && !callbacks_.gen_model_input) {
        SummaryGenerationOutcome outcome = generate_with_prefix(order, state);
        if (!outcome.failure || !is_too_large(*outcome.failure)) return outcome;
    }
    return generate_summary(task_of(order, *model_, edit_), order.config, summary_generation_callbacks(),
                            summary_generation_environment(turn_), state);
}

template <AgentMessage M>
SummaryGenerationOutcome SummarizationHost<M>::generate_with_prefix(const SummaryOrder& order,
                                                                    SummaryGenerationState& state) const {
    SummaryGenerationTask<M> task = task_of(order, *model_, edit_);
    task.agent_system = turn_.request.system;
    task.agent_tools = turn_.request.tools;
    task.thinking_prefix_edited =
        turn_.config.profile.thinking_bound_to_prefix && turn_.conversation.thinking_prefix_edited();
    SummaryGenerationConfig config = order.config;
    if (state.learnt_input_limit > 0)
        config.max_input_tokens = (std::min)(config.max_input_tokens, state.learnt_input_limit);
    SummaryGenerationState whole{.learnt_input_limit = state.learnt_input_limit};
    SummaryGenerationOutcome result =
        generate_summary(task, config, prefix_callbacks(order), summary_generation_environment(turn_), whole);
    state.learnt_input_limit = whole.learnt_input_limit;
    if (result.ok()) state = std::move(whole);
    return result;
}

template <AgentMessage M>
SummaryGenerationCallbacks<M> SummarizationHost<M>::summary_generation_callbacks() const {
    SummaryGenerationCallbacks<M> callbacks{callbacks_.retry, callbacks_.failover, callbacks_.gen_model_input, {}};
    callbacks.on_generate = [this](const Attempt<M>& attempt) {
        notify(GenerateSummary<M>{attempt.number, attempt.phase, attempt.response, attempt.error}, "generate_summary",
               attempt.error != nullptr ? std::string_view(attempt.error->message) : "accepted");
    };
    return callbacks;
}

/// A prefix that is too large is neither retried nor sent to another model: pieces are due, and the user's functions
/// decide on these.
template <AgentMessage M>
SummaryGenerationCallbacks<M> SummarizationHost<M>::prefix_callbacks(const SummaryOrder& order) const {
    SummaryGenerationCallbacks<M> callbacks = summary_generation_callbacks();
    callbacks.gen_model_input = [this, &order](const CallbackContext&, const M& system, const M& user,
                                               const OriginalMessages<M>&) {
        return own_prefix_and(order, system, user);
    };
    const auto unless_too_large = [](std::function<bool(const Attempt<M>&)> wants) {
        return [wants = std::move(wants)](const Attempt<M>& attempt) {
            if (attempt.error != nullptr && is_too_large(*attempt.error)) return false;
            return wants ? wants(attempt) : attempt.error != nullptr;
        };
    };
    callbacks.retry.should_retry = unless_too_large(std::move(callbacks.retry.should_retry));
    callbacks.failover.should_failover = unless_too_large(std::move(callbacks.failover.should_failover));
    return callbacks;
}

/// The agent's own messages up to the end of the fold, as they were sent, and what is asked of the model.
template <AgentMessage M>
std::vector<M> SummarizationHost<M>::own_prefix_and(const SummaryOrder& order, const M& system, const M& user) const {
    const auto messages = turn_.conversation.messages().first(order.fold.back() + 1);
    std::vector<M> input(messages.begin(), messages.end());
    input.push_back(message_traits<M>::make(Role::user, text_of(system) + "\n\n" + text_of(user)));
    return input;
}

/// Under OnError::skip the summary stands, whatever the user's callback throws.
template <AgentMessage M>
void SummarizationHost<M>::call_user(std::span<const M> after) {
    if (!callbacks_.callback) return;
    try {
        callbacks_.callback(turn_.callback_context(), before_, after);
    } catch (...) {
        if (turn_.config.on_error == OnError::propagate) throw;
        const std::string text = "callback: " + current_error_text();
        turn_.report.ensure_details().error = text;
        emit_failure(turn_.on_event, turn_.report.middleware, turn_.conversation_id(), text);
    }
}

template <AgentMessage M>
void SummarizationHost<M>::notify(const SummarizationEvent<M>& event, std::string_view kind,
                                  std::string_view text) const {
    if (!config_.emit_internal_events) return;
    emit(turn_.on_event,
         {.source = turn_.report.middleware, .kind = kind, .text = text, .conversation = turn_.conversation_id()});
    if (!callbacks_.on_internal_event) return;
    try {
        callbacks_.on_internal_event(turn_.callback_context(), event);
    } catch (...) {  // an observer must not decide on a summary
        emit_failure(turn_.on_event, turn_.report.middleware, turn_.conversation_id(),
                     "on_internal_event: " + current_error_text());
    }
}

}  // namespace whittle::inline v0::detail
