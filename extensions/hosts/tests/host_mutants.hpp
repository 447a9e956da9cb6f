// A host's own adapter with one mistake: each is caught by the name of what it breaks.
#pragma once

#include "support/catch.hpp"
#include "whittle/host_conformance/conformance.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::testing {

enum class HostMistake { none, drops_a_field, reorders_parts, loses_an_id };
/// The one that the traits of mutants make now.
inline HostMistake host_mistake = HostMistake::none;

/// One that an adapter has no part for, or a mark of a part; each host's test says which.
template <typename M>
void drop_a_field(M& message);

/// A host's message whose traits are the adapter's, but for the mistake.
template <typename M>
struct Mutant : M {
    explicit(false) Mutant(M message) : M(std::move(message)) {}
};

}  // namespace whittle::testing

template <typename Host>
struct whittle::message_traits<whittle::testing::Mutant<Host>> {
    using M = whittle::testing::Mutant<Host>;
    using Right = message_traits<Host>;
    using enum whittle::testing::HostMistake;

    static Role role(const M& m) { return Right::role(m); }
    static void for_each_part(const M& m, auto&& visit) {
        std::vector<std::pair<Part, bool>> parts;
        Right::for_each_part(m, [&](const PartView& p) { parts.emplace_back(to_part(p), p.starts_new_result); });
        if (testing::host_mistake == reorders_parts) std::ranges::reverse(parts);
        for (const auto& [part, starts_new_result] : parts) {
            PartView view = view_of(part);
            view.starts_new_result = starts_new_result;
            if (testing::host_mistake == loses_an_id) view.call_id = {};
            visit(view);
        }
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        Right::set_text(m, part, text);
        if (testing::host_mistake == drops_a_field) testing::drop_a_field<Host>(m);
    }
    static void erase_part(M& m, std::size_t part) { Right::erase_part(m, part); }
    static M make(Role role, std::string_view text) { return Right::make(role, text); }
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        std::vector<Host> made = Right::make_tool_results(results);
        return {std::make_move_iterator(made.begin()), std::make_move_iterator(made.end())};
    }
};

namespace whittle::testing {

template <AgentMessage M>
void check_host_mutants(const MessageFixture<M>& format) {
    using Wrong = Mutant<M>;
    const MessageFixture<Wrong> wrong{
        .build = [&](const ChatMessage& shown, FieldValues& others) -> std::optional<Wrong> {
            std::optional<M> built = format.build(shown, others);
            if (!built) return std::nullopt;
            return Wrong(*std::move(built));
        },
        .dump = format.dump,
        .holds = format.holds,
        .results_name_tools = format.results_name_tools,
        .utf8_only = format.utf8_only};
    const auto failed_of = [&](HostMistake mistake) {
        host_mistake = mistake;
        std::vector<std::string> failed = host_conformance(wrong, {.messages = 100}).failed_checks();
        host_mistake = HostMistake::none;
        return failed;
    };
    const auto fails = [&](HostMistake mistake, std::string_view check) {
        return std::ranges::count(failed_of(mistake), check) == 1;
    };
    CHECK(failed_of(HostMistake::none) == std::vector<std::string>{});
    CHECK(fails(HostMistake::drops_a_field, "set_text_keeps_the_rest"));
    CHECK(fails(HostMistake::reorders_parts, "part_order"));
    CHECK(fails(HostMistake::loses_an_id, "call_ids"));
}

}  // namespace whittle::testing
