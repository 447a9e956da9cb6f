#pragma once

#include "whittle/base/event.hpp"
#include "whittle/chain/detail/hook_run.hpp"
#include "whittle/summarization/callbacks.hpp"
#include "whittle/summarization/detail/prepared.hpp"
#include "whittle/summarization/detail/summarize.hpp"
#include "whittle/summary/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
class SummaryPortOf final : public SummaryPort {
public:
    /// All are borrowed. `edit`: the draft of the summary; `model`: null where there is none.
    SummaryPortOf(Turn<M>& turn, Transaction<M>& edit, const SummarizationConfig& config,
                  const SummarizationCallbacks<M>& callbacks, const std::shared_ptr<Model<M>>& model)
        : turn_(turn), edit_(edit), config_(config), callbacks_(callbacks), model_(model) {}
    ~SummaryPortOf() = default;

    [[nodiscard]] bool has_model() const noexcept override { return model_ != nullptr; }
    [[nodiscard]] bool may_prepare() const noexcept override {
        return callbacks_.executor && model_ != nullptr && !callbacks_.finalize && !callbacks_.gen_model_input &&
               !config_.reuse_prompt_cache;
    }
    void prepare(const DigestOrder& order, std::int64_t request_tokens) override;
    [[nodiscard]] std::shared_ptr<PreparedSummary> prepared() const override {
        const auto holder = std::static_pointer_cast<PreparedHolder>(turn_.attachments().find(prepared_name()));
        return holder ? holder->summary() : nullptr;
    }
    void forget_prepared() override { turn_.attachments().set(prepared_name(), nullptr); }
    [[nodiscard]] bool has_finalize() const noexcept override { return static_cast<bool>(callbacks_.finalize); }
    [[nodiscard]] bool may_use_prefix() const noexcept override { return !callbacks_.gen_model_input; }
    [[nodiscard]] bool passes_filter(std::size_t message) const override {
        return !callbacks_.user_message_filter ||
               callbacks_.user_message_filter(turn_.callback_context(), turn_.conversation.messages()[message]);
    }
    [[nodiscard]] std::string_view transcript_path() const noexcept override {
        return callbacks_.transcript ? std::string_view(callbacks_.transcript->path()) : std::string_view{};
    }
    void record(std::span<const std::size_t> fold) override {
        if (callbacks_.transcript) callbacks_.transcript->record(turn_);
        if (!callbacks_.flush_memory) return;
        const MessageView<M> all = turn_.conversation.messages();
        std::vector<const void*> folded;
        for (const std::size_t i : fold) folded.push_back(&all[i]);
        callbacks_.flush_memory(turn_.callback_context(), OriginalMessages<M>(all, MessageView<M>::at(folded)));
    }
    [[nodiscard]] bool has_attach_files() const noexcept override { return static_cast<bool>(callbacks_.attach_files); }
    [[nodiscard]] std::vector<AttachedFile> attach_files(std::span<const FileUse> files) override {
        return callbacks_.attach_files(turn_.callback_context(), files);
    }
    void with_trial(FunctionRef<void(Draft&)> work) override;
    [[nodiscard]] DigestOutcome digest(const DigestOrder& order, bool with_prefix, DigestState& state) override;
    void stage_finalized(std::string_view summary, Role role,
                         FunctionRef<Provenance(std::span<const std::size_t>)> carry) override;
    void tell_due() override {
        tell(BeforeSummarize<M>{turn_.conversation.messages()}, "before_summarize", "a summary is due");
    }
    void keep_before() override {
        if (!callbacks_.callback) return;
        const MessageView<M> messages = turn_.conversation.messages();
        before_.assign(messages.begin(), messages.end());
    }
    void tell_done() override { tell_done(turn_.conversation.messages()); }
    /// Tells of a list that is not the conversation's.
    void tell_done(std::span<const M> after);

private:
    [[nodiscard]] std::string prepared_name() const {
        return std::string("prepared_summary/").append(turn_.report.middleware);
    }
    [[nodiscard]] DigestTask<M> task_of(const DigestOrder& order) const;
    [[nodiscard]] DigestOutcome digest_with_prefix(const DigestOrder& order, DigestState& state) const;
    [[nodiscard]] DigestCallbacks<M> digest_callbacks() const;
    [[nodiscard]] DigestCallbacks<M> prefix_callbacks(const DigestOrder& order) const;
    [[nodiscard]] std::vector<M> own_prefix_and(const DigestOrder& order, const M& system, const M& user) const;
    void stage_made(std::size_t first, std::size_t last, std::vector<M> made, Role role, Provenance provenance);
    void tell_nothing_carries(const Provenance& lost) const;
    void tell(const SummarizationEvent<M>& event, std::string_view kind, std::string_view text) const;
    void call_user(std::span<const M> after);

    Turn<M>& turn_;
    Transaction<M>& edit_;
    const SummarizationConfig& config_;
    const SummarizationCallbacks<M>& callbacks_;
    const std::shared_ptr<Model<M>>& model_;
    std::vector<M> before_{};
};

template <AgentMessage M>
void SummaryPortOf<M>::with_trial(FunctionRef<void(Draft&)> work) {
    EditEnvironment environment = turn_.environment();
    environment.dry_run = true;
    environment.report = nullptr;  // a rehearsal is nobody's business
    environment.events = nullptr;
    Transaction<M> trial = turn_.conversation.edit(turn_.report.middleware, std::move(environment));
    work(trial);
}

/// The messages that the finalizer left at the front and at the back are untouched; what is between is replaced.
template <AgentMessage M>
void SummaryPortOf<M>::stage_finalized(std::string_view summary, Role role,
                                       FunctionRef<Provenance(std::span<const std::size_t>)> carry) {
    const std::span<const M> old = turn_.conversation.messages();
    const FinalizeContext context{turn_.callback_context(), turn_.outline(), turn_.config.token_counter, turn_.language,
                                  role};
    std::vector<M> made = callbacks_.finalize(context, old, message_traits<M>::make(role, summary));
    if (made.empty()) throw Error(Errc::callback_failed, "finalize: no messages came back");
    const std::size_t most = std::min(old.size(), made.size());
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
    edit_.allow_pinned(true);
    stage_made(front, old.size() - back, std::move(made), role, std::move(provenance));
}

/// What is carried is noted at one of the new messages only: the last one that may be the summary, else the last one.
/// Other system texts are no summaries: the next fold leaves them alone.
template <AgentMessage M>
void SummaryPortOf<M>::stage_made(std::size_t first, std::size_t last, std::vector<M> made, Role role,
                                  Provenance provenance) {
    const auto is_system = [](const M& m) { return message_traits<M>::role(m) == Role::system; };
    const auto is_free = [&](const M& m) { return role == Role::system || !is_system(m); };
    const auto carrier = std::find_if(made.rbegin(), made.rend(), is_free);
    const auto found = static_cast<std::size_t>(made.rend() - carrier);  // 0: there is none
    const std::size_t main = found > 0 ? found : made.size();
    if (main == 0) tell_nothing_carries(provenance);
    const Provenance plain{.origin = Origin::summary, .reason = "summary", .covers = provenance.covers};
    const Provenance instruction{.origin = Origin::nudge, .reason = "summary", .covers = provenance.covers};
    edit_.begin_unit();
    edit_.erase_range(first, last, plain);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const Provenance& other = is_system(made[i]) ? instruction : plain;
        edit_.insert(first + i, std::move(made[i]), i + 1 == main ? std::move(provenance) : other);
    }
}

template <AgentMessage M>
void SummaryPortOf<M>::tell_nothing_carries(const Provenance& lost) const {
    if (lost.user_messages.empty() && lost.skills.empty()) return;
    const std::string text = "finalize left no new message: " + std::to_string(lost.user_messages.size()) +
                             " user messages and " + std::to_string(lost.skills.size()) +
                             " skills are not carried any further";
    emit(turn_.on_event,
         {Event::Level::warning, turn_.report.middleware, "nothing_carries", text, turn_.conversation_id(), 0, 0});
}

template <AgentMessage M>
void SummaryPortOf<M>::prepare(const DigestOrder& order, std::int64_t request_tokens) {
    const Outline outline = turn_.outline();
    std::vector<Serial> serials;
    for (const std::size_t i : order.fold) serials.push_back(outline[i].serial);
    auto summary =
        std::make_shared<PreparedSummary>(std::move(serials), print_of_range(outline, order.fold), request_tokens);
    DigestEnvironment environment = digest_environment(turn_, "prepared summary");
    environment.report = nullptr;
    const auto job = std::make_shared<PreparingJob<M>>(
        summary, model_, turn_.conversation.messages(), outline, order.fold, order.replaced_tokens, order.config,
        DigestCallbacks<M>{callbacks_.retry, callbacks_.failover, {}, {}},
        budget_of(turn_.config, turn_.config.clock->now()), std::move(environment));
    turn_.attachments().set(prepared_name(), std::make_shared<PreparedHolder>(std::move(summary)));
    try {
        callbacks_.executor([job] { job->run(); });
    } catch (...) {
        forget_prepared();
        throw;
    }
}

template <AgentMessage M>
DigestTask<M> SummaryPortOf<M>::task_of(const DigestOrder& order) const {
    return {.model = *model_,
            .messages = turn_.conversation.messages(),
            .outline = turn_.outline(),
            .fold = order.fold,
            .replaced_tokens = order.replaced_tokens,
            .accept = order.accept};
}

template <AgentMessage M>
DigestOutcome SummaryPortOf<M>::digest(const DigestOrder& order, bool with_prefix, DigestState& state) {
    if (with_prefix) return digest_with_prefix(order, state);
    return whittle::digest(task_of(order), order.config, digest_callbacks(), digest_environment(turn_), state);
}

template <AgentMessage M>
DigestOutcome SummaryPortOf<M>::digest_with_prefix(const DigestOrder& order, DigestState& state) const {
    DigestTask<M> task = task_of(order);
    task.system = turn_.request.system;
    task.tools = turn_.request.tools;
    task.prefix_edited = turn_.config.profile.thinking_bound_to_prefix && turn_.conversation.prefix_edited();
    DigestConfig config = order.config;
    if (state.learnt_input_limit > 0)
        config.max_input_tokens = std::min(config.max_input_tokens, state.learnt_input_limit);
    DigestState whole{.learnt_input_limit = state.learnt_input_limit};
    DigestOutcome result = whittle::digest(task, config, prefix_callbacks(order), digest_environment(turn_), whole);
    state.learnt_input_limit = whole.learnt_input_limit;
    if (result.ok()) state = std::move(whole);
    return result;
}

template <AgentMessage M>
DigestCallbacks<M> SummaryPortOf<M>::digest_callbacks() const {
    DigestCallbacks<M> callbacks{callbacks_.retry, callbacks_.failover, callbacks_.gen_model_input, {}};
    callbacks.on_generate = [this](const Attempt<M>& attempt) {
        tell(GenerateSummary<M>{attempt.number, attempt.phase, attempt.response, attempt.error}, "generate_summary",
             attempt.error != nullptr ? std::string_view(attempt.error->message) : "accepted");
    };
    return callbacks;
}

/// A prefix that is too large is neither retried nor sent to another model: pieces are due, and the user's functions
/// decide on these.
template <AgentMessage M>
DigestCallbacks<M> SummaryPortOf<M>::prefix_callbacks(const DigestOrder& order) const {
    DigestCallbacks<M> callbacks = digest_callbacks();
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
std::vector<M> SummaryPortOf<M>::own_prefix_and(const DigestOrder& order, const M& system, const M& user) const {
    const auto messages = turn_.conversation.messages().first(order.fold.back() + 1);
    std::vector<M> input(messages.begin(), messages.end());
    input.push_back(message_traits<M>::make(Role::user, text_of(system) + "\n\n" + text_of(user)));
    return input;
}

template <AgentMessage M>
void SummaryPortOf<M>::tell_done(std::span<const M> after) {
    call_user(after);
    tell(AfterSummarize<M>{MessageView<M>(after)}, "after_summarize", "the summary stands");
}

/// Under OnError::skip the summary stands, whatever the user's callback throws.
template <AgentMessage M>
void SummaryPortOf<M>::call_user(std::span<const M> after) {
    if (!callbacks_.callback) return;
    try {
        callbacks_.callback(turn_.callback_context(), before_, after);
    } catch (...) {
        if (turn_.config.on_error == OnError::propagate) throw;
        const std::string text = "callback: " + current_error_text();
        turn_.report.more().error = text;
        tell_failure(turn_.on_event, turn_.report.middleware, turn_.conversation_id(), text);
    }
}

template <AgentMessage M>
void SummaryPortOf<M>::tell(const SummarizationEvent<M>& event, std::string_view kind, std::string_view text) const {
    if (!config_.emit_internal_events) return;
    emit(turn_.on_event,
         {.source = turn_.report.middleware, .kind = kind, .text = text, .conversation = turn_.conversation_id()});
    if (!callbacks_.on_internal_event) return;
    try {
        callbacks_.on_internal_event(turn_.callback_context(), event);
    } catch (...) {  // an observer must not decide on a summary
        tell_failure(turn_.on_event, turn_.report.middleware, turn_.conversation_id(),
                     "on_internal_event: " + current_error_text());
    }
}

}  // namespace whittle::inline v0::detail
