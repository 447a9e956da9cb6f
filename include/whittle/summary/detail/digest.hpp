#pragma once

// Definition of digest(); included by digest.hpp.

#include "whittle/summary/detail/accept.hpp"
#include "whittle/summary/detail/fold.hpp"
#include "whittle/summary/detail/guarded.hpp"
#include "whittle/summary/detail/requests.hpp"
#include "whittle/summary/detail/sections.hpp"
#include "whittle/summary/detail/shown_names.hpp"
#include "whittle/summary/detail/text.hpp"
#include "whittle/summary/summary.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>

namespace whittle::inline v0 {

namespace detail {

/// One call of `digest`.
template <AgentMessage M>
class DigestRun {
public:
    DigestRun(const DigestTask<M>& task, const DigestConfig& config, const DigestCallbacks<M>& callbacks,
              const DigestEnvironment& environment, DigestState& state)
        : task_(task),
          config_(config),
          callbacks_(callbacks),
          environment_(environment),
          state_(state),
          system_text_(config.system_instruction.empty() ? digest_system_instruction(environment.language)
                                                         : std::string_view(config.system_instruction)),
          user_text_(config.user_instruction.empty() ? summary_instruction(environment.language)
                                                     : std::string_view(config.user_instruction)),
          system_(message_traits<M>::make(Role::system, system_text_)),
          instruction_(message_traits<M>::make(Role::user, user_text_)),
          originals_(overlay_of(task)),
          requests_(make_requests()),
          replaced_tokens_(task.replaced_tokens > 0 ? task.replaced_tokens : count_originals()) {}

    DigestResult<M> run() {
        try {
            resume();
            if (callbacks_.gen_model_input) {
                own_input_ = guarded("gen_model_input", [&] {
                    return callbacks_.gen_model_input(context(), system_, instruction_, originals());
                });
            }
            while (!is_done_ && !result_.failure) step();
        } catch (CallbackThrew& threw) {
            result_.failure = error_without_call(DigestFailure::callback, std::move(threw.message));
            result_.failure->thrown = std::move(threw.thrown);
        }
        return std::move(result_);
    }

private:
    /// What came of an attempt.
    struct Outcome {
        std::optional<DigestError> error{};
        std::optional<Reply<M>> reply{};
        std::string summary{};
        ChunkRecord record{};
        FoldPosition next{};
        std::vector<std::string> missing{};  ///< sections that the summary lacks
        int number = 1;                      ///< of the attempt, from 1 in its phase

        /// No further attempt can help.
        [[nodiscard]] bool is_final() const noexcept { return error && error->failure == DigestFailure::budget; }
    };

    static std::vector<const void*> overlay_of(const DigestTask<M>& task) {
        if (task.fold.empty() || task.fold.back() >= task.messages.size())
            throw Error(Errc::invalid_argument, "digest messages: the fold is empty or points behind the messages");
        std::vector<const void*> originals;
        for (const std::size_t i : task.fold) originals.push_back(&task.messages[i]);
        return originals;
    }

    [[nodiscard]] OriginalMessages<M> originals() const noexcept {
        return {task_.messages, MessageView<M>::at(originals_)};
    }

    [[nodiscard]] std::int64_t count_originals() const {
        std::int64_t tokens = 0;
        for (const M& m : MessageView<M>::at(originals_))
            tokens = add_saturating(tokens, count_message(m, *environment_.counter));
        return tokens;
    }

    /// Of the message in a request, with its tags.
    [[nodiscard]] std::size_t likely_bytes(const MessageInfo& info) const noexcept {
        constexpr std::int64_t around_entry = 96;
        const std::int64_t cap = config_.max_tool_result_bytes > 0 ? config_.max_tool_result_bytes : INT64_MAX / 2;
        std::int64_t bytes = 0;
        for (const PartInfo& part : info.parts) {
            const bool is_cut = part.kind == PartKind::tool_result;
            bytes = add_saturating(bytes, (is_cut ? std::min(part.bytes, cap) : part.bytes) + around_entry);
        }
        return static_cast<std::size_t>(bytes);
    }

    DigestRequests make_requests() const {
        std::vector<ChunkPlanner::Member> members;
        members.reserve(task_.fold.size());
        for (const std::size_t i : task_.fold)
            members.push_back({task_.outline[i].serial, task_.outline[i].group, likely_bytes(task_.outline[i])});
        const RenderOptions options{config_.max_tool_result_bytes, environment_.language};
        auto render = [&task = task_, options](std::size_t i) {
            return render_message(task.messages[task.fold[i]], task.outline[task.fold[i]], options);
        };
        const TokenCounter& counter = *environment_.counter;
        return {ChunkPlanner(std::move(members), std::move(render), counter),
                counter,
                {add_saturating(count_message(system_, counter), count_message(instruction_, counter)),
                 config_.max_summary_tokens, environment_.language, config_.model_options.max_output_tokens}};
    }

    /// Of the messages in front of `position`, the one that it is in included, and of how they are rendered.
    [[nodiscard]] Hash128 fingerprint_up_to(const FoldPosition& position) const {
        const std::size_t end = position.message + (position.entry > 0 || position.byte > 0 ? 1 : 0);
        return print_of_range(task_.outline, task_.fold.first(std::min(end, task_.fold.size())),
                              {static_cast<std::uint64_t>(config_.max_tool_result_bytes),
                               static_cast<std::uint64_t>(environment_.language)});
    }

    void resume() {
        const FoldPosition at{state_.next_message, state_.next_entry,
                              static_cast<std::size_t>(std::max<std::int64_t>(0, state_.next_byte))};
        result_.resumed = !callbacks_.gen_model_input && !state_.empty() && at.message < task_.fold.size() &&
                          !state_.summary_so_far.empty() && fingerprint_up_to(at) == state_.done;
        if (result_.resumed)
            position_ = at;
        else
            state_ = {.learnt_input_limit = state_.learnt_input_limit};
        limit_ = config_.max_input_tokens > 0 ? config_.max_input_tokens : default_max_input_tokens;
        // An input that the caller makes is judged by its own bound: the next one may be another.
        if (state_.learnt_input_limit > 0 && !callbacks_.gen_model_input)
            limit_ = std::min(limit_, state_.learnt_input_limit);
    }

    void step() {
        Outcome outcome = ask_primary();
        if (!outcome.is_final()) outcome = ask_failover(std::move(outcome));
        result_.response = std::move(outcome.reply);
        if (outcome.error)
            result_.failure = std::move(outcome.error);
        else
            keep(std::move(outcome));
    }

    void keep(Outcome outcome) {
        is_done_ = outcome.record.is_whole_fold || outcome.next.message >= task_.fold.size();
        result_.chunks.push_back(std::move(outcome.record));
        if (is_done_) {
            result_.summary = std::move(outcome.summary);
            result_.missing_sections = std::move(outcome.missing);
            state_ = {.learnt_input_limit = state_.learnt_input_limit};
            return;
        }
        position_ = outcome.next;
        state_ = {std::move(outcome.summary),
                  position_.message,
                  position_.entry,
                  static_cast<std::int64_t>(position_.byte),
                  fingerprint_up_to(position_),
                  state_.learnt_input_limit};
    }

    Outcome ask_primary() {
        const int retries = config_.retry ? config_.retry->max_retries : 0;
        for (int number = 1;; ++number) {
            Outcome outcome = attempt(task_.model, number, DigestPhase::primary, limit_);
            outcome.number = number;
            if (!config_.retry || outcome.is_final() || !wants_retry(number, outcome)) return outcome;
            if (number > retries) return used_up(std::move(outcome), "retry", retries);
            pause(callbacks_.retry.backoff, number, DigestPhase::primary, outcome);
            if (outcome.is_final()) return outcome;
        }
    }

    /// What does not fit once does not fit the next time.
    bool wants_retry(int number, const Outcome& outcome) {
        if (outcome.error && outcome.error->failure == DigestFailure::does_not_fit) return false;
        if (!callbacks_.retry.should_retry) return outcome.error.has_value();
        return guarded("should_retry",
                       [&] { return callbacks_.retry.should_retry(view_of_attempt(number, {}, outcome)); });
    }

    Outcome ask_failover(Outcome last) {
        if (!config_.failover || !wants_failover(last.number, DigestPhase::primary, last)) return last;
        for (int number = 1; number <= config_.failover->max_retries; ++number) {
            last = attempt_failover(number, std::move(last));
            if (last.is_final() || !wants_failover(number, DigestPhase::failover, last)) return last;
            if (number == config_.failover->max_retries) break;
            pause(callbacks_.failover.backoff, number, DigestPhase::failover, last);
            if (last.is_final()) return last;
        }
        return used_up(std::move(last), "failover", config_.failover->max_retries);
    }

    bool wants_failover(int number, DigestPhase phase, const Outcome& outcome) {
        if (!callbacks_.failover.should_failover) return outcome.error.has_value();
        return guarded("should_failover",
                       [&] { return callbacks_.failover.should_failover(view_of_attempt(number, phase, outcome)); });
    }

    Outcome attempt_failover(int number, Outcome last) {
        FailoverModel<M> other = failover_model(number, last);
        if (callbacks_.failover.get_failover_model && !other.model)
            throw CallbackThrew{"get_failover_model: it gave no model", {}};
        std::int64_t limit = other.max_input_tokens > 0 ? other.max_input_tokens : limit_;
        Model<M>& model = other.model ? *other.model : task_.model;
        if (other.input.empty()) return attempt(model, number, DigestPhase::failover, limit);
        Outcome outcome = ask_whole(model, other.input, limit, false);
        notify(number, DigestPhase::failover, outcome);
        return outcome;
    }

    FailoverModel<M> failover_model(int number, const Outcome& last) {
        if (!callbacks_.failover.get_failover_model) return {};
        return guarded("get_failover_model", [&] {
            return callbacks_.failover.get_failover_model({context(), number, system_, instruction_, originals(),
                                                           last.reply ? &*last.reply : nullptr,
                                                           last.error ? &*last.error : nullptr});
        });
    }

    Outcome used_up(Outcome outcome, std::string_view what, int retries) {
        outcome.error = attempts_used_up(what, retries, outcome.error ? &*outcome.error : nullptr);
        return outcome;
    }

    [[nodiscard]] CallbackContext context() const noexcept {
        return {.conversation = environment_.conversation,
                .round = environment_.round,
                .tools = environment_.tools,
                .stop = environment_.stop};
    }

    [[nodiscard]] Attempt<M> view_of_attempt(int number, DigestPhase phase, const Outcome& outcome) const {
        return {context(), number, phase, outcome.reply ? &*outcome.reply : nullptr,
                outcome.error ? &*outcome.error : nullptr};
    }

    void notify(int number, DigestPhase phase, const Outcome& outcome) {
        if (!callbacks_.on_generate) return;
        try {
            callbacks_.on_generate(view_of_attempt(number, phase, outcome));
        } catch (...) {  // it only watches
        }
    }

    Outcome attempt(Model<M>& model, int number, DigestPhase phase, std::int64_t& limit) {
        while (true) {
            Outcome outcome = own_input_ ? ask_whole(model, *own_input_, limit, true) : ask_chunk(model, limit);
            notify(number, phase, outcome);
            if (!outcome.error || outcome.error->model_error != ModelErrorClass::overflow) return outcome;
            const std::int64_t learnt =
                limit_after_overflow(outcome.record.request_tokens, requests_.fixed_tokens(), outcome.error->overflow);
            if (phase == DigestPhase::primary) state_.learnt_input_limit = learnt;
            if (own_input_) return outcome;
            limit = learnt;
        }
    }

    Outcome ask_chunk(Model<M>& model, std::int64_t limit) {
        std::optional<DigestRequest> request = requests_.build(position_, state_.summary_so_far, limit);
        if (!request) return does_not_fit(limit);
        const std::array<M, 3> messages{system_, message_traits<M>::make(Role::user, request->data), instruction_};
        const std::int64_t tokens = is_text_of(messages[1], request->data.size())
                                        ? add_saturating(requests_.fixed_tokens(), request->tokens)
                                        : count(messages);
        if (tokens > limit) return does_not_fit(limit);
        Outcome outcome = ask(model, request_of(messages), request->is_last);
        if (request->is_last && !outcome.error) correct(model, messages, limit, outcome);
        outcome.record = {std::move(request->plan.pieces), tokens, limit, false};
        outcome.next = request->plan.next;
        return outcome;
    }

    /// Asks once more where sections lack, if there is room and a call for that; what lacks fewer stands.
    void correct(Model<M>& model, std::span<const M> messages, std::int64_t limit, Outcome& outcome) {
        outcome.missing = missing_sections(outcome.summary, config_.required_sections);
        if (outcome.missing.empty()) return;
        std::vector<M> again(messages.begin(), messages.end());
        again.push_back(outcome.reply->message);
        const std::string text = correction_text(outcome.missing, environment_.language);
        again.push_back(message_traits<M>::make(Role::user, text));
        if (count(again) > limit) return;
        Outcome second = ask(model, request_of(again), true);
        if (second.error) return;
        second.missing = missing_sections(second.summary, config_.required_sections);
        if (second.missing.size() < outcome.missing.size()) outcome = std::move(second);
    }

    /// A message type may put more into a message than its text, or split it: such a one is counted by itself.
    [[nodiscard]] static bool is_text_of(const M& m, std::size_t bytes) {
        std::size_t parts = 0;
        bool is_text = true;
        message_traits<M>::for_each_part(m, [&](const PartView& part) {
            ++parts;
            is_text = is_text && part.kind == PartKind::text && part.text.size() == bytes;
        });
        return is_text && parts == 1;
    }

    /// A user's own input, for the whole fold.
    Outcome ask_whole(Model<M>& model, const std::vector<M>& input, std::int64_t limit, bool with_prefix) {
        ModelRequest<M> request = request_of(input);
        const std::function<std::size_t()> all_but_instruction = [&] { return input.size() - 1; };
        if (with_prefix) {
            request.system = task_.system;
            request.tools = task_.tools;
            request.prefix_edited = task_.prefix_edited;
            // The agent's own prefix: what is cached of it is read with marks where its own requests have them.
            const bool is_agents = !task_.system.empty() || !task_.tools.empty();
            if (is_agents && !input.empty()) request.stable_prefix = &all_but_instruction;
        }
        const std::int64_t tokens =
            add_saturating(count(input), count_overhead(request.system, request.tools, *environment_.counter));
        if (tokens > limit) return does_not_fit(limit);
        Outcome outcome = ask(model, request, true);
        outcome.record = {{}, tokens, limit, true};
        return outcome;
    }

    [[nodiscard]] std::int64_t count(std::span<const M> messages) const {
        std::int64_t tokens = 0;
        for (const M& m : messages) tokens = add_saturating(tokens, count_message(m, *environment_.counter));
        return tokens;
    }

    static Outcome does_not_fit(std::int64_t limit) {
        Outcome outcome;
        outcome.error =
            error_without_call(DigestFailure::does_not_fit,
                               "make summary request: instructions and a piece of the conversation do not fit " +
                                   std::to_string(limit) + " tokens");
        return outcome;
    }

    [[nodiscard]] ModelRequest<M> request_of(std::span<const M> messages) const {
        return {.messages = messages,
                .stop = environment_.stop,
                .purpose = environment_.purpose,
                .options = &config_.model_options};
    }

    Outcome ask(Model<M>& model, const ModelRequest<M>& request, bool is_last) {
        Outcome outcome;
        if ((outcome.error = spend_call())) return outcome;
        call(model, request, outcome);
        if (outcome.reply) judge(outcome, request, is_last);
        return outcome;
    }

    /// The names in a request. Those of the instructions are not the conversation's.
    void add_names_in(const ModelRequest<M>& request, ShownNames& names) const {
        for (const std::string_view text : {system_text_, user_text_, request.system}) names.add_other(text);
        for (const ToolSpec& tool : request.tools) {
            for (const std::string_view text : {std::string_view(tool.name), std::string_view(tool.parameters)})
                names.add_other(text);
        }
        for (const M& message : request.messages) {
            if (same_message(message, system_) || same_message(message, instruction_)) continue;
            message_traits<M>::for_each_part(message, [&](const PartView& part) {
                names.add(part.text);
                names.add_other(part.tool);
                if (part.kind == PartKind::media || part.kind == PartKind::other) names.add_unread();
            });
        }
    }

    void judge(Outcome& outcome, const ModelRequest<M>& request, bool is_last) {
        ShownNames names([&](ShownNames& all) { add_names_in(request, all); });
        const std::array<std::string_view, 2> instructions{system_text_, user_text_};
        const std::array<std::string_view, 2> frames{whole_frame_, part_frame_};
        const Acceptance rules{*environment_.counter,
                               config_.max_reply_bytes,
                               is_last ? config_.max_summary_tokens : 0,
                               is_last ? replaced_tokens_ : 0,
                               instructions,
                               frames,
                               &names};
        const M& message = outcome.reply->message;
        DigestError error;
        auto summary = accept_reply(
            {text_of(message), outcome.reply->finish, has_tool_call(message), message_traits<M>::role(message)}, rules,
            error);
        if (!summary) {
            outcome.error = std::move(error);
            return;
        }
        if (is_last && task_.accept) {
            std::string reason = guarded("accept", [&] { return task_.accept(*summary); });
            if (!reason.empty()) {
                outcome.error = DigestError{
                    .failure = DigestFailure::refused, .refusal = Refusal::by_caller, .message = std::move(reason)};
                return;
            }
        }
        outcome.summary = *std::move(summary);
    }

    void require_running() const {
        if (environment_.stop.stop_requested())
            throw ModelError(ModelErrorClass::cancelled, "digest messages: stopped");
    }

    std::optional<DigestError> spend_call() {
        require_running();
        HookBudget* budget = environment_.budget;
        if (budget == nullptr) return std::nullopt;
        if (budget->model_calls <= 0)
            return error_without_call(DigestFailure::budget, "call summary model: the hook's model calls are used up");
        if (environment_.clock->now() >= budget->deadline)
            return error_without_call(DigestFailure::budget, "call summary model: the hook's time is used up");
        --budget->model_calls;
        return std::nullopt;
    }

    void call(Model<M>& model, const ModelRequest<M>& request, Outcome& outcome) {
        const Timestamp started = environment_.clock->now();
        ++result_.model_calls;
        try {
            outcome.reply = model.generate(request);
        } catch (...) {
            require_running();  // whatever a stopped call throws
            outcome.error = current_model_error();
        }
        require_running();
        if (outcome.reply && outcome.reply->usage) result_.usage += *outcome.reply->usage;
        if (environment_.report == nullptr) return;
        environment_.report->more().model_calls.push_back(
            {environment_.purpose, outcome.reply ? outcome.reply->usage : std::nullopt,
             environment_.clock->now() - started, outcome.error ? outcome.error->message : std::string()});
    }

    /// Waits before the next attempt. If the hook's time would not last, `outcome` becomes final.
    void pause(const std::function<std::chrono::milliseconds(const Attempt<M>&)>& backoff, int number,
               DigestPhase phase, Outcome& outcome) {
        std::chrono::milliseconds wait =
            backoff ? guarded("backoff", [&] { return backoff(view_of_attempt(number, phase, outcome)); })
                    : default_backoff(number, *environment_.random);
        if (outcome.error && outcome.error->retry_after) wait = std::max(wait, *outcome.error->retry_after);
        wait = std::max(wait, std::chrono::milliseconds::zero());
        const HookBudget* budget = environment_.budget;
        if (budget != nullptr && add_saturating(environment_.clock->now(), wait.count()) >= budget->deadline) {
            const std::string last = outcome.error ? "; the last attempt: " + outcome.error->message : std::string();
            outcome.error =
                error_without_call(DigestFailure::budget, "wait for the next attempt: " + std::to_string(wait.count()) +
                                                              " ms are longer than the hook's time" + last);
            return;
        }
        if (!environment_.clock->sleep_for(wait, environment_.stop))
            throw ModelError(ModelErrorClass::cancelled, "wait for the next attempt: stopped");
    }

    const DigestTask<M>& task_;
    const DigestConfig& config_;
    const DigestCallbacks<M>& callbacks_;
    const DigestEnvironment& environment_;
    DigestState& state_;
    std::string_view system_text_;
    std::string_view user_text_;
    std::string whole_frame_ = data_frame({.language = environment_.language}).before;
    std::string part_frame_ = data_frame({.is_part = true, .language = environment_.language}).before;
    M system_;
    M instruction_;
    std::vector<const void*> originals_;
    DigestRequests requests_;
    std::int64_t replaced_tokens_;
    std::optional<std::vector<M>> own_input_{};
    FoldPosition position_{};
    std::int64_t limit_ = 0;
    bool is_done_ = false;
    DigestResult<M> result_{};
};

}  // namespace detail

template <AgentMessage M>
DigestResult<M> digest(const DigestTask<M>& task, const DigestConfig& config, const DigestCallbacks<M>& callbacks,
                       const DigestEnvironment& environment, DigestState& state) {
    return detail::DigestRun<M>(task, config, callbacks, environment, state).run();
}

}  // namespace whittle::inline v0
