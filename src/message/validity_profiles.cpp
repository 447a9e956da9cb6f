#include "whittle/message/validity.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string_view>

namespace whittle::inline v0 {
namespace {

constexpr std::int64_t mebibyte = 1024 * 1024;

ValidityProfile extended(ValidityProfile profile, std::string_view name, std::initializer_list<Rule> more) {
    profile.name = name;
    profile.rules.insert(profile.rules.end(), more);
    return profile;
}

}  // namespace

bool has_rule(const ValidityProfile& profile, Rule rule) noexcept {
    return std::ranges::find(profile.rules, rule) != profile.rules.end();
}

const ValidityProfile& openai_chat() {
    using enum Rule;
    static const ValidityProfile profile{
        .name = "openai_chat",
        .rules = {G1_utf8, G2_paired, G3_unique_ids, G4_object_arguments, G6_no_invented_claim, G7_has_user, G8_names,
                  G9_tools_defined, OC1_results_follow, OC2_result_after_call, OC3_content},
        .max_call_id = 40};
    return profile;
}

const ValidityProfile& openai_compatible() {
    using enum Rule;
    static const ValidityProfile profile = [] {
        ValidityProfile strict =
            extended(openai_chat(), "openai_compatible",
                     {OC6_last_role, OC6_alternation, OC6_system_first, OC6_text_only_results, OC6_user_turns});
        strict.calls_keep_thinking = true;
        strict.max_call_id = 0;  // vLLM makes ids of 46 characters, and takes them
        return strict;
    }();
    return profile;
}

const ValidityProfile& anthropic_messages() {
    using enum Rule;
    static const ValidityProfile profile{
        .name = "anthropic",
        .rules = {G1_utf8, G2_paired, G3_unique_ids, G4_object_arguments, G6_no_invented_claim, G7_has_user, G8_names,
                  G9_tools_defined, G11_request_bytes, A1_user_first, A1_system_first, A2_results_next,
                  A3_results_first, A4_result_of_previous, A5_blank_text, A5_prefill_trailing_space, A10_images},
        .max_tool_name = 128,
        .call_id_alphabet = true,
        .limits = {.max_images = 100,
                   .max_image_base64_bytes = 5 * mebibyte,
                   .max_image_side = 8'000,
                   .many_images_threshold = 20,
                   .max_side_with_many_images = 2'000,
                   .max_request_bytes = 32 * mebibyte}};
    return profile;
}

const ValidityProfile& anthropic_thinking() {
    using enum Rule;
    static const ValidityProfile profile =
        extended(anthropic_messages(), "anthropic_thinking", {A6_thinking_before_calls, A7_thinking_first});
    return profile;
}

const ValidityProfile& gemini_chat() {
    using enum Rule;
    static const ValidityProfile profile{
        .name = "gemini",
        .rules = {G1_utf8, G2_paired, G3_unique_ids, G4_object_arguments, G6_no_invented_claim, G7_has_user, G8_names,
                  G9_tools_defined, G11_images, G11_request_bytes, GM1_user_first_and_last, GM2_call_after_user,
                  GM3_responses_match, GM6_empty_parts},
        .more_tool_name_characters = ".:",
        .tool_name_starts_as_identifier = true,
        .limits = {.max_images = 3'600, .max_request_bytes = 20 * mebibyte}};
    return profile;
}

std::span<const ValidityProfile* const> validity_profiles() noexcept {
    static const std::array<const ValidityProfile*, 5> profiles{
        &openai_chat(), &openai_compatible(), &anthropic_messages(), &anthropic_thinking(), &gemini_chat()};
    return profiles;
}

const ValidityProfile* find_validity_profile(std::string_view name) noexcept {
    const auto profiles = validity_profiles();
    const auto found = std::ranges::find_if(profiles, [&](const ValidityProfile* p) { return p->name == name; });
    return found == profiles.end() ? nullptr : *found;
}

}  // namespace whittle::inline v0
