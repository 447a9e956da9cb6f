#pragma once

#include "whittle/summary/detail/accept.hpp"
#include "whittle/summary/detail/guarded.hpp"
#include "whittle/summary/detail/requests.hpp"
#include "whittle/summary/detail/sections.hpp"
#include "whittle/summary/detail/shown_names.hpp"
#include "whittle/summary/detail/text.hpp"
#include "whittle/summary/task.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What came of one attempt at a chunk, or at a whole fold.
template <AgentMessage M>
struct SummaryGenerationAttempt {
    std::optional<SummaryError> error{};
    std::optional<Reply<M>> reply{};
    std::string summary{};
    ChunkRecord record{};
    FoldPosition next{};
    std::vector<std::string> missing{};  ///< sections that the summary lacks
    int number = 1;                      ///< from 1 in its phase

    /// No further attempt can help.
    [[nodiscard]] bool is_final() const noexcept { return error && error->failure == SummaryFailure::budget; }
};

/// The model calls for one summary: makes requests, asks, and judges the replies.
template <AgentMessage M>
class SummaryGenerationCalls {
public:
    /// All are borrowed. Throws Error(invalid_argument) for an empty fold.
    SummaryGenerationCalls(const SummaryGenerationTask<M>& task, const SummaryGenerationConfig& config,
                           const SummaryGenerationEnvironment& environment)
        : task_(task),
          config_(config),
          environment_(environment),
          system_text_(summary_system_instruction(environment.language)),
          user_text_(config.user_instruction.empty() ? summary_instruction(environment.language)
                                                     : std::string_view(config.user_instruction)),
          system_(message_traits<M>::make(Role::system, system_text_)),
          instruction_(message_traits<M>::make(Role::user, user_text_)),
          originals_(overlay_of(task)),
          requests_(make_requests()),
          replaced_tokens_(task.replaced_tokens > 0 ? task.replaced_tokens : count_originals()) {}
    SummaryGenerationCalls(const SummaryGenerationCalls&) = delete;
    SummaryGenerationCalls& operator=(const SummaryGenerationCalls&) = delete;
    ~SummaryGenerationCalls() = default;

    [[nodiscard]] const M& system() const noexcept { return system_; }
    [[nodiscard]] const M& instruction() const noexcept { return instruction_; }
    [[nodiscard]] OriginalMessages<M> originals() const noexcept {
        return {task_.all_messages, MessageView<M>::at(originals_)};
    }

    [[nodiscard]] std::int64_t fixed_tokens() const noexcept { return requests_.fixed_tokens(); }
    [[nodiscard]] int count_of_calls() const noexcept { return model_calls_; }
    [[nodiscard]] const Usage& usage() const noexcept { return usage_; }

    /// Throws ModelError(cancelled) once a stop is asked for.
    void require_running() const {
        if (environment_.stop.stop_requested())
            throw ModelError(ModelErrorClass::cancelled, "generate a summary: stopped");
    }

    /// Asks about the messages from `position` on, as many as fit.
    SummaryGenerationAttempt<M> summarize_chunk(Model<M>& model, FoldPosition position, std::string_view summary_so_far,
                                                std::int64_t limit) {
        std::optional<SummaryRequest> request = requests_.build(position, summary_so_far, limit);
        if (!request) return does_not_fit(limit);
        const std::array<M, 3> messages{system_, message_traits<M>::make(Role::user, request->data), instruction_};
        const std::int64_t tokens = is_text_of(messages[1], request->data.size())
                                        ? add_saturating(requests_.fixed_tokens(), request->tokens)
                                        : count(messages);
        if (tokens > limit) return does_not_fit(limit);
        SummaryGenerationAttempt<M> outcome = ask(model, request_of(messages), request->is_last);
        if (request->is_last && !outcome.error) correct(model, messages, limit, outcome);
        outcome.record = {std::move(request->plan.pieces), tokens, limit, false};
        outcome.next = request->plan.next;
        return outcome;
    }

    /// A user's own input, for the whole fold.
    SummaryGenerationAttempt<M> summarize_whole(Model<M>& model, const std::vector<M>& input, std::int64_t limit,
                                                bool with_prefix) {
        ModelRequest<M> request = request_of(input);
        const std::function<std::size_t()> all_but_instruction = [&] { return input.size() - 1; };
        if (with_prefix) {
            request.system = task_.agent_system;
            request.tools = task_.agent_tools;
            request.thinking_prefix_edited = task_.thinking_prefix_edited;
            // The agent's own prefix: what is cached of it is read with marks where its own requests have them.
            const bool is_agents = !task_.agent_system.empty() || !task_.agent_tools.empty();
            if (is_agents && !input.empty()) request.count_stable_messages = &all_but_instruction;
        }
        const std::int64_t tokens =
            add_saturating(count(input), count_overhead(request.system, request.tools, *environment_.counter));
        if (tokens > limit) return does_not_fit(limit);
        SummaryGenerationAttempt<M> outcome = ask(model, request, true);
        outcome.record = {{}, tokens, limit, true};
        return outcome;
    }

private:
    static std::vector<const void*> overlay_of(const SummaryGenerationTask<M>& task) {
        if (task.fold.empty() || task.fold.back() >= task.all_messages.size())
            throw Error(Errc::invalid_argument, "generate a summary: the fold is empty or points behind the messages");
        std::vector<const void*> originals;
        for (const std::size_t i : task.fold) originals.push_back(&task.all_messages[i]);
        return originals;
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
            bytes = add_saturating(bytes, (is_cut ? (std::min)(part.text_bytes, cap) : part.text_bytes) + around_entry);
        }
        return static_cast<std::size_t>(bytes);
    }

    SummaryRequests make_requests() const {
        std::vector<ChunkPlanner::Member> members;
        members.reserve(task_.fold.size());
        for (const std::size_t i : task_.fold)
            members.push_back({task_.outline[i].serial, task_.outline[i].round_serial, likely_bytes(task_.outline[i])});
        const RenderOptions options{config_.max_tool_result_bytes, environment_.language};
        auto render = [&task = task_, options](std::size_t i) {
            return render_message(task.all_messages[task.fold[i]], task.outline[task.fold[i]], options);
        };
        const TokenCounter& counter = *environment_.counter;
        return {ChunkPlanner(std::move(members), std::move(render), counter),
                counter,
                {add_saturating(count_message(system_, counter), count_message(instruction_, counter)),
                 config_.max_summary_tokens, environment_.language, config_.model_options.max_output_tokens}};
    }

    /// Asks once more where sections lack, if there is room and a call for that; what lacks fewer stands.
    void correct(Model<M>& model, std::span<const M> messages, std::int64_t limit,
                 SummaryGenerationAttempt<M>& outcome) {
        outcome.missing = missing_sections(outcome.summary, config_.required_sections);
        if (outcome.missing.empty()) return;
        std::vector<M> again(messages.begin(), messages.end());
        again.push_back(outcome.reply->message);
        const std::string text = correction_text(outcome.missing, environment_.language);
        again.push_back(message_traits<M>::make(Role::user, text));
        if (count(again) > limit) return;
        SummaryGenerationAttempt<M> second = ask(model, request_of(again), true);
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

    [[nodiscard]] std::int64_t count(std::span<const M> messages) const {
        std::int64_t tokens = 0;
        for (const M& m : messages) tokens = add_saturating(tokens, count_message(m, *environment_.counter));
        return tokens;
    }

    static SummaryGenerationAttempt<M> does_not_fit(std::int64_t limit) {
        SummaryGenerationAttempt<M> outcome;
        outcome.error =
            error_without_call(SummaryFailure::does_not_fit,
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

    SummaryGenerationAttempt<M> ask(Model<M>& model, const ModelRequest<M>& request, bool is_last) {
        SummaryGenerationAttempt<M> outcome;
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

    void judge(SummaryGenerationAttempt<M>& outcome, const ModelRequest<M>& request, bool is_last) {
        ShownNames names([&](ShownNames& all) { add_names_in(request, all); });
        const std::array<std::string_view, 2> instructions{system_text_, user_text_};
        const std::array<std::string_view, 2> frames{whole_frame_, part_frame_};
        const Acceptance rules{*environment_.counter,
                               is_last ? config_.max_summary_tokens : 0,
                               is_last ? replaced_tokens_ : 0,
                               instructions,
                               frames,
                               &names};
        const M& message = outcome.reply->message;
        SummaryError error;
        auto summary = accept_reply(
            {text_of(message), outcome.reply->finish, has_tool_call(message), message_traits<M>::role(message)}, rules,
            error);
        if (!summary) {
            outcome.error = std::move(error);
            return;
        }
        if (is_last && task_.rejection_reason) {
            std::string reason = guarded("rejection_reason", [&] { return task_.rejection_reason(*summary); });
            if (!reason.empty()) {
                outcome.error = SummaryError{
                    .failure = SummaryFailure::refused, .refusal = Refusal::by_caller, .message = std::move(reason)};
                return;
            }
        }
        outcome.summary = *std::move(summary);
    }

    std::optional<SummaryError> spend_call() {
        require_running();
        HookBudget* budget = environment_.budget;
        if (budget == nullptr) return std::nullopt;
        if (budget->model_calls <= 0)
            return error_without_call(SummaryFailure::budget, "call summary model: the hook's model calls are used up");
        if (environment_.clock->now() >= budget->deadline)
            return error_without_call(SummaryFailure::budget, "call summary model: the hook's time is used up");
        --budget->model_calls;
        return std::nullopt;
    }

    void call(Model<M>& model, const ModelRequest<M>& request, SummaryGenerationAttempt<M>& outcome) {
        const UnixMillis started = environment_.clock->now();
        ++model_calls_;
        try {
            outcome.reply = model.generate(request);
        } catch (...) {
            require_running();  // whatever a stopped call throws
            outcome.error = current_model_error();
        }
        require_running();
        if (outcome.reply && outcome.reply->usage) usage_ += *outcome.reply->usage;
        if (environment_.report == nullptr) return;
        environment_.report->ensure_details().model_calls.push_back(
            {environment_.purpose, outcome.reply ? outcome.reply->usage : std::nullopt,
             environment_.clock->now() - started, outcome.error ? outcome.error->message : std::string()});
    }

    const SummaryGenerationTask<M>& task_;
    const SummaryGenerationConfig& config_;
    const SummaryGenerationEnvironment& environment_;
    std::string_view system_text_;
    std::string_view user_text_;
    std::string whole_frame_ = data_frame({.language = environment_.language}).before;
    std::string part_frame_ = data_frame({.is_part = true, .language = environment_.language}).before;
    M system_;
    M instruction_;
    std::vector<const void*> originals_;
    SummaryRequests requests_;
    std::int64_t replaced_tokens_;
    int model_calls_ = 0;
    Usage usage_{};
};

}  // namespace whittle::inline v0::detail
