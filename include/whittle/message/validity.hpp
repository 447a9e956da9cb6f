#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/message/part.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A rule over the neutral view of a history. docs/validity.md lists the ids with their meaning.
enum class Rule {
    G1_utf8,                ///< text is valid UTF-8
    G2_paired,              ///< each result has one earlier call; each call outside the open round exactly one result
    G3_unique_ids,          ///< call ids are unique
    G4_object_arguments,    ///< arguments are a JSON object
    G6_no_invented_claim,   ///< summaries, skill texts and nudges do not speak as the assistant
    G7_has_user,            ///< not empty, at least one user message
    G8_names,               ///< tool names and call ids keep to the profile's alphabet and length
    G9_tools_defined,       ///< tools that the history calls are in the request; checked where tools are given
    G11_images,             ///< images keep to the profile's limits
    G11_request_bytes,      ///< what the parts alone take keeps to the profile's limit
    OC1_results_follow,     ///< results of all calls directly after their call, before any other role
    OC2_result_after_call,  ///< a tool message stands after its call with only tool messages between
    OC3_content,            ///< an assistant message has text or calls
    OC6_last_role,          ///< the last message is user or tool
    OC6_alternation,        ///< user and assistant alternate, after merging equal neighbours; tools count as user
    OC6_system_first,       ///< at most one system message, and it is first
    OC6_text_only_results,  ///< tool results are plain text
    OC6_user_turns,         ///< no user message right behind a tool's, nor two in a row
    A1_user_first,          ///< the first speaker is the user, after merging equal neighbours; tools count as user
    A1_system_first,        ///< system messages stand in front of the others
    A2_results_next,        ///< results of all calls in the next message of the user, after merging
    A3_results_first,       ///< results in front of other content in that message
    A4_result_of_previous,  ///< a result answers a call of the assistant message right before it, after merging
    A5_blank_text,          ///< no text part is empty or only white space, no message without parts
    A5_prefill_trailing_space,  ///< a last assistant message does not end in white space
    A6_thinking_before_calls,   ///< in a step of the open tool loop thinking stands before the calls
    A7_thinking_first,          ///< the open tool loop starts with thinking
    A10_images,                 ///< as G11_images
    GM1_user_first_and_last,    ///< the user speaks first and last, after merging equal neighbours
    GM2_call_after_user,        ///< calls come right after the user or a result
    GM3_responses_match,        ///< the next turn holds as many results as calls, in their order, and nothing else
    GM6_empty_parts,            ///< no text part is empty, no message without parts
};

/// How bad a broken rule is: refused by the server, silent damage, or only dearer.
enum class Severity { refused, silent, cost };

/// What a provider takes beside tokens; 0 is no limit.
struct RequestLimits {
    std::size_t max_images = 0;               ///< in a request, those inside results included
    std::int64_t max_image_base64_bytes = 0;  ///< of one image, as base64
    int max_image_side = 0;                   ///< pixels, of one image
    std::size_t many_images_threshold = 0;    ///< with more images than this ...
    int max_side_with_many_images = 0;        ///< ... this is the limit for a side, in pixels
    std::int64_t max_request_bytes = 0;       ///< of the body

    friend bool operator==(const RequestLimits&, const RequestLimits&) = default;
};

/// A set of rules with their limits: data, not code.
struct ValidityProfile {
    std::string name{};                           ///< as configurations name it
    std::vector<Rule> rules{};                    ///< each once; others are not checked
    std::size_t max_tool_name = 64;               ///< characters of `[A-Za-z0-9_-]`
    std::size_t max_call_id = 0;                  ///< characters, 0 for no limit
    bool call_id_alphabet = false;                ///< call ids are `[A-Za-z0-9_-]+`
    std::string more_tool_name_characters{};      ///< that tool names may have
    bool tool_name_starts_as_identifier = false;  ///< with a letter or `_`
    bool calls_keep_thinking = false;  ///< replies with calls go back with their thinking: no edit takes it out
    RequestLimits limits{};            ///< docs/validity.md gives source and date of the shipped numbers

    friend bool operator==(const ValidityProfile&, const ValidityProfile&) = default;
};

/// Whether the rule is one of the profile's.
[[nodiscard]] bool has_rule(const ValidityProfile& profile, Rule rule) noexcept;

/// OpenAI Chat Completions as OpenAI's own servers take it.
[[nodiscard]] const ValidityProfile& openai_chat();
/// The stricter union of what OpenAI-compatible servers ask for.
[[nodiscard]] const ValidityProfile& openai_compatible();
/// "anthropic": Anthropic Messages, thinking not enabled.
[[nodiscard]] const ValidityProfile& anthropic_messages();
/// "anthropic_thinking": Anthropic Messages with thinking enabled.
[[nodiscard]] const ValidityProfile& anthropic_thinking();
/// "gemini": Gemini's generateContent.
[[nodiscard]] const ValidityProfile& gemini_chat();
/// The shipped profile of that name, or null.
[[nodiscard]] const ValidityProfile* find_validity_profile(std::string_view name) noexcept;
/// All shipped profiles.
[[nodiscard]] std::span<const ValidityProfile* const> validity_profiles() noexcept;

/// "G2", "OC1", ...: the id as documented.
[[nodiscard]] std::string_view to_string(Rule rule) noexcept;
/// How bad it is to break the rule.
[[nodiscard]] Severity severity_of(Rule rule) noexcept;

/// A place where a history breaks a rule.
struct Violation {
    Rule rule{};                    ///< that is broken
    std::size_t message_index = 0;  ///< the size of the list if the list as a whole is meant
    std::size_t part_index = 0;     ///< index of the part in the message; 0 where the whole message is meant
    Serial serial = 0;              ///< of the message; 0 for the list as a whole
    std::string text{};             ///< one sentence: what is wrong, with the id or name concerned

    friend bool operator==(const Violation&, const Violation&) = default;
};

/// "; G2 at message 4: ..." of each.
[[nodiscard]] std::string to_text(std::span<const Violation> violations);

/// Every broken rule, in list order. The open round (calls still running) may lack results.
[[nodiscard]] std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile);

/// Every broken rule, G9 among them if the profile has it: `tools` are those of the request.
[[nodiscard]] std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile,
                                              std::span<const ToolSpec> tools);

/// For a history that may be long: calls `check_cancelled` for each message, each of its parts, and before each rule.
[[nodiscard]] std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile,
                                              std::optional<std::span<const ToolSpec>> tools,
                                              CancelCheck check_cancelled);

/// The violations of `after` that `before` does not have: same rule and same serial count as the same.
[[nodiscard]] std::vector<Violation> new_violations(const std::vector<Violation>& before,
                                                    const std::vector<Violation>& after);

/// True only if putting `after` in the place of `before` breaks no rule of any profile anew, whatever stands around it:
/// role, kinds, calls and tools are the same, and texts got no longer and no worse. Quick; false says nothing.
[[nodiscard]] bool surely_keeps_rules(const MessageInfo& before, const MessageInfo& after) noexcept;

/// Stand-alone form for a list of messages. Serials are positions from 1.
template <AgentMessage M>
[[nodiscard]] std::vector<Violation> validate(std::span<const M> messages, const ValidityProfile& profile) {
    std::vector<MessageInfo> infos;
    infos.reserve(messages.size());
    for (const M& m : messages) {
        MessageInfo info = describe(m);
        info.serial = infos.size() + 1;
        infos.push_back(std::move(info));
    }
    link_rounds(infos);
    return validate(Outline(infos), profile);
}

}  // namespace whittle::inline v0
