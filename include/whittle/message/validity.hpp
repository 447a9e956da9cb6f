#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <cstdint>
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
    G7_has_user,            ///< not empty, at least one user message
    G8_names,               ///< tool names and call ids keep to the profile's alphabet and length
    OC1_results_follow,     ///< results of all calls directly after their call, before any other role
    OC2_result_after_call,  ///< a tool message stands after its call with only tool messages between
    OC3_content,            ///< an assistant message has text or calls
    OC6_last_role,          ///< the last message is user or tool
    OC6_alternation,        ///< user and assistant alternate, after merging equal neighbours; tools count as user
    OC6_system_first,       ///< at most one system message, and it is first
    OC6_text_only_results,  ///< tool results are plain text
};

/// How bad a broken rule is: refused by the server, silent damage, or only dearer.
enum class Severity { refused, silent, cost };

/// A set of rules with their limits: data, not code.
struct ValidityProfile {
    std::string name{};
    std::vector<Rule> rules{};
    std::size_t max_tool_name = 64;  ///< characters of `[A-Za-z0-9_-]`
    std::size_t max_call_id = 0;     ///< characters, 0 for no limit
    bool call_id_alphabet = false;   ///< call ids are `[A-Za-z0-9_-]+`

    friend bool operator==(const ValidityProfile&, const ValidityProfile&) = default;
};

/// OpenAI Chat Completions as OpenAI's own servers take it.
[[nodiscard]] const ValidityProfile& openai_chat();
/// The stricter union of what OpenAI-compatible servers ask for.
[[nodiscard]] const ValidityProfile& openai_compatible();
/// The shipped profile of that name, or null.
[[nodiscard]] const ValidityProfile* find_validity_profile(std::string_view name) noexcept;
[[nodiscard]] std::span<const ValidityProfile* const> validity_profiles() noexcept;

/// "G2", "OC1", ...: the id as documented.
[[nodiscard]] std::string_view id_of(Rule rule) noexcept;
[[nodiscard]] Severity severity_of(Rule rule) noexcept;

struct Violation {
    Rule rule{};
    std::size_t message = 0;  ///< index; the size of the list if the list as a whole is meant
    std::size_t part = 0;
    Serial serial = 0;   ///< of the message; 0 for the list as a whole
    std::string text{};  ///< one sentence: what is wrong, with the id or name concerned

    friend bool operator==(const Violation&, const Violation&) = default;
};

/// Every broken rule, in list order. The open round (calls still running) may lack results.
[[nodiscard]] std::vector<Violation> validate(const Outline& outline, const ValidityProfile& profile);

/// The violations of `after` that `before` does not have: same rule and same serial count as the same.
[[nodiscard]] std::vector<Violation> new_violations(const std::vector<Violation>& before,
                                                    const std::vector<Violation>& after);

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
    join_groups(infos);
    return validate(Outline(infos), profile);
}

}  // namespace whittle::inline v0
