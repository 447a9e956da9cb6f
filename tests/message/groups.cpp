// How a result finds its call, in histories that hold thousands of calls with one id.
#include "whittle/message/detail/group_finder.hpp"

#include "support/catch.hpp"
#include "support/generators_hostile.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

bool is_result_of(const PartInfo& part, std::string_view id) {
    const bool is_result =
        part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
    return is_result && part.call_id == id;
}

/// The rule as docs say it, without a thought of cost: message and part of the newest call with that id that no message
/// answers, else the first of the newest message with one.
std::optional<std::pair<std::size_t, std::size_t>> slow_search(std::span<const MessageInfo> before,
                                                               std::string_view id) {
    std::optional<std::pair<std::size_t, std::size_t>> newest;
    for (std::size_t i = before.size(); i-- > 0;) {
        std::size_t answers = 0;
        for (std::size_t k = i + 1; k < before.size(); ++k) {
            const bool answers_it =
                before[k].round_serial == before[i].serial &&
                std::ranges::any_of(before[k].parts, [&](const PartInfo& part) { return is_result_of(part, id); });
            answers += answers_it ? 1 : 0;
        }
        for (std::size_t p = 0; p < before[i].parts.size(); ++p) {
            const PartInfo& part = before[i].parts[p];
            if (part.kind != PartKind::tool_call || part.call_id != id) continue;
            if (!newest) newest = std::pair(i, p);
            if (answers-- == 0) return std::pair(i, p);
        }
    }
    return newest;
}

/// Infos whose calls have names that say where they are, so that a result shows which call it found.
std::vector<MessageInfo> infos_of(const History& history) {
    std::vector<MessageInfo> infos;
    for (const ChatMessage& m : history) {
        MessageInfo info = describe(m);
        info.serial = infos.size() + 1;
        for (std::size_t p = 0; p < info.parts.size(); ++p) {
            if (info.parts[p].kind == PartKind::tool_call)
                info.parts[p].key_safe_call_id = std::to_string(infos.size()) + "." + std::to_string(p);
        }
        infos.push_back(std::move(info));
    }
    return infos;
}

void check_against_slow_search(const History& history) {
    std::vector<MessageInfo> infos = infos_of(history);
    GroupFinder groups;
    for (std::size_t i = 0; i < infos.size(); ++i) {
        const auto before = std::span<const MessageInfo>(infos).first(i);
        const bool has_own_calls = infos[i].has(PartKind::tool_call);
        std::vector<std::optional<std::pair<std::size_t, std::size_t>>> expected;
        for (const PartInfo& part : infos[i].parts) expected.push_back(slow_search(before, part.call_id));
        groups.join(infos[i], Outline(before));
        for (std::size_t p = 0; p < infos[i].parts.size() && !has_own_calls; ++p) {
            const PartInfo& part = infos[i].parts[p];
            if (!is_result_of(part, part.call_id)) continue;
            const std::string name =
                expected[p] ? std::to_string(expected[p]->first) + "." + std::to_string(expected[p]->second)
                            : std::string();
            INFO("message " << i << ", part " << p);
            CHECK(part.key_safe_call_id == name);
        }
    }
}

}  // namespace

TEST_CASE("a result finds the newest call with its id that has no answer, however many there are", "[message]") {
    for (const HostileShape& shape : hostile_shapes()) {
        INFO(shape.name);
        check_against_slow_search(shape.make(40));
    }
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        INFO(seed);
        check_against_slow_search(generate_history(seed, {.broken = true}));
    }
}

TEST_CASE("a finder that forgot what it knew finds the same", "[message]") {
    const History history = whittle::testing::detail::rounds(50, whittle::testing::detail::same_id);
    std::vector<MessageInfo> kept = infos_of(history);
    std::vector<MessageInfo> forgotten = kept;
    GroupFinder with_memory;
    GroupFinder without;
    for (std::size_t i = 0; i < history.size(); ++i) {
        with_memory.join(kept[i], Outline(std::span<const MessageInfo>(kept).first(i)));
        without.join(forgotten[i], Outline(std::span<const MessageInfo>(forgotten).first(i)));
        without.forget();
        CHECK(kept[i].round_serial == forgotten[i].round_serial);
    }
}
