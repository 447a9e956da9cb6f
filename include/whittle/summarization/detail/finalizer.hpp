#pragma once

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/callback_context.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/summarization/detail/summary_text.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a finalizer knows beside the messages. Valid during the call.
struct FinalizeContext : CallbackContext {
    /// Of the originals: what earlier summaries among them carry, and which messages are not the user's. Empty: every
    /// message is taken for original.
    Outline outline{};
    std::shared_ptr<const TokenCounter> counter = chars_counter();  ///< for budgets in tokens
    Language language = Language::english;                          ///< of texts that the finalizer writes
    Role summary_role = Role::user;                                 ///< of the message that holds the summary
    /// The summary has the skills of the originals already, as a handler of a `FinalizerBuilder` puts them there.
    bool has_skills = false;
};

/// (context, originals, summary) -> the whole new list. `summary` holds the model's text, cleaned, and nothing else.
template <AgentMessage M = ChatMessage>
using Finalize = std::function<std::vector<M>(const FinalizeContext&, std::span<const M>, const M&)>;

/// A user message that is to come back word for word: false leaves it out.
template <AgentMessage M = ChatMessage>
using UserMessageFilter = std::function<bool(const CallbackContext&, const M&)>;

/// Settings of `default_finalizer`, as those of the same names in `SummarizationConfig`.
struct DefaultFinalizerConfig {
    PreserveUserMessages preserve_user_messages{.max_tokens = 30'000};  ///< what comes back word for word
    PreserveSkillsConfig preserve_skills{};                             ///< what comes back of skills
    std::string transcript_file_path{};                                 ///< named in the summary; empty: nowhere
};

namespace detail {

/// The originals with their outline, made if the context has none.
template <AgentMessage M>
class Originals {
public:
    Originals(const FinalizeContext& context, std::span<const M> messages) : messages_(messages) {
        if (context.outline.size() == messages.size()) {
            outline_ = context.outline;
        } else {
            describe_all();
        }
        all_.resize(messages.size());
        std::iota(all_.begin(), all_.end(), std::size_t{0});
    }
    Originals(const Originals&) = delete;
    Originals& operator=(const Originals&) = delete;
    ~Originals() = default;

    [[nodiscard]] MessageView<M> messages() const noexcept { return messages_; }
    [[nodiscard]] const Outline& outline() const noexcept { return outline_; }
    [[nodiscard]] std::span<const std::size_t> all() const noexcept { return all_; }
    [[nodiscard]] std::vector<M> system_messages() const {
        std::vector<M> found;
        for (std::size_t i = 0; i < messages_.size(); ++i) {  // the new summary folds in the previous one
            const bool is_summary = origin_of(outline_[i].mark) == Origin::summary;
            if (!is_summary && outline_[i].role == Role::system) found.push_back(messages_[i]);
        }
        return found;
    }

private:
    void describe_all() {
        for (const M& m : messages_) {
            infos_.push_back(describe(m));
            infos_.back().serial = infos_.size();
        }
        link_rounds(infos_);
        outline_ = Outline(std::span<const MessageInfo>(infos_));
    }

    std::span<const M> messages_;
    std::vector<MessageInfo> infos_{};
    Outline outline_{};
    std::vector<std::size_t> all_{};
};

/// The text that holds the skills of the originals which `summary` does not have; empty if there are none.
template <AgentMessage M>
[[nodiscard]] std::string skills_text(const FinalizeContext& context, const Originals<M>& originals,
                                      const PreserveSkillsConfig& config, std::string_view summary) {
    if (context.has_skills || config.max_skills <= 0) return {};
    auto skills = skills_in<M>(originals.messages(), originals.outline(), originals.all(), config.skill_tool_name);
    auto kept = keep_skills(std::move(skills), config, INT64_MAX, *context.counter, context.language);
    std::erase_if(kept, [&](const Skill& skill) { return summary.find(skill.content) != std::string_view::npos; });
    return to_text(kept, context.language);
}

/// The filter where the finalizer is called; empty if there is none. Borrows both.
template <AgentMessage M>
[[nodiscard]] std::function<bool(const M&)> filter_in(const CallbackContext& context,
                                                      const UserMessageFilter<M>& filter) {
    if (!filter) return {};
    return [&](const M& message) { return filter(context, message); };
}

template <AgentMessage M>
void require_summary(const M& summary) {
    if (is_blank(text_of(summary))) throw Error(Errc::invalid_argument, "finalize a summary: summary content is empty");
}

}  // namespace detail

/// What the middleware does with a summary by itself, for use in a finalizer of one's own: the system messages as they
/// are, skills, and the summary with the user's messages and the transcript's path. Tail and pins are the caller's.
/// Throws Error(invalid_config).
template <AgentMessage M = ChatMessage>
[[nodiscard]] Finalize<M> default_finalizer(DefaultFinalizerConfig config = {}, UserMessageFilter<M> filter = {}) {
    Problems problems;
    check_preserve_skills(config.preserve_skills, "preserve_skills", problems);
    if (config.preserve_user_messages.max_tokens.value_or(0) < 0)
        problems.error("preserve_user_messages.max_tokens", std::to_string(*config.preserve_user_messages.max_tokens),
                       "0 or more");
    problems.throw_if_errors("make default finalizer");
    return [config = std::move(config), filter = std::move(filter)](const FinalizeContext& context,
                                                                    std::span<const M> messages, const M& summary) {
        detail::require_summary(summary);
        const detail::Originals<M> originals(context, messages);
        const std::int64_t budget = user_message_budget(config.preserve_user_messages, Trigger{});
        const KeptUserMessages users =
            keep_user_messages(user_messages_in<M>(originals.messages(), originals.outline(), originals.all(),
                                                   detail::filter_in(context, filter)),
                               budget, *context.counter, context.language);
        const std::string text = text_of(summary);
        const SummaryParts parts{
            .summary = text, .user_messages = &users, .transcript_file_path = config.transcript_file_path};
        std::vector<M> result = originals.system_messages();
        if (const std::string skills = detail::skills_text(context, originals, config.preserve_skills, text);
            !skills.empty())
            result.push_back(message_traits<M>::make(Role::user, skills));
        result.push_back(message_traits<M>::make(context.summary_role, compose_summary(parts, context.language)));
        return result;
    };
}

/// Puts a finalizer together. Handlers change the summary, in the order in which they were added: `preserve_skills`
/// puts the originals' skills in front of its text. Then `custom`, wherever it was added, makes the list out of what
/// the handlers made, which is the whole list without it. A `default_finalizer` inside gives no skills again.
template <AgentMessage M = ChatMessage>
class FinalizerBuilder {
public:
    /// Puts the originals' skills in front of the summary's text; a second call replaces the first.
    FinalizerBuilder& preserve_skills(PreserveSkillsConfig config = {}) {
        skills_ = std::move(config);
        return *this;
    }
    /// Makes the list; a second call replaces the first.
    FinalizerBuilder& custom(Finalize<M> finalize) {
        custom_ = std::move(finalize);
        return *this;
    }
    /// Throws Error(invalid_config) if nothing was added or a setting is out of range.
    [[nodiscard]] Finalize<M> build() const {
        Problems problems;
        if (!skills_ && !custom_)
            problems.error("finalizer", "nothing", "preserve_skills(config), custom(function), or both");
        if (skills_) check_preserve_skills(*skills_, "preserve_skills", problems);
        problems.throw_if_errors("build finalizer");
        return [skills = skills_, custom = custom_](const FinalizeContext& context, std::span<const M> messages,
                                                    const M& summary) {
            detail::require_summary(summary);
            if (!skills) return made_of(custom, context, messages, summary);
            FinalizeContext handled = context;
            handled.has_skills = true;
            return made_of(custom, handled, messages, with_skills(context, messages, summary, *skills));
        };
    }

private:
    static std::vector<M> made_of(const Finalize<M>& custom, const FinalizeContext& context,
                                  std::span<const M> messages, const M& summary) {
        std::vector<M> result = custom ? custom(context, messages, summary) : std::vector<M>{summary};
        if (result.empty()) throw Error(Errc::callback_failed, "finalize a summary: no messages came back");
        return result;
    }
    /// The summary as it is if there are none.
    static M with_skills(const FinalizeContext& context, std::span<const M> messages, const M& summary,
                         const PreserveSkillsConfig& config) {
        const detail::Originals<M> originals(context, messages);
        const std::string text = text_of(summary);
        const std::string skills = detail::skills_text(context, originals, config, text);
        if (skills.empty()) return summary;
        return message_traits<M>::make(message_traits<M>::role(summary), skills + "\n\n" + text);
    }

    std::optional<PreserveSkillsConfig> skills_{};
    Finalize<M> custom_{};
};

}  // namespace whittle::inline v0
