#include "folded_object.hpp"

#include "whittle/base/hash.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/summary/detail/fold.hpp"
#include "whittle/summary/detail/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::string_view folder = "/folded/";
constexpr std::size_t most_named = 20;

/// As a summarizer sees them, but whole.
std::string text_of_folded(const HookTurn& turn, std::span<const std::size_t> folded) {
    const RenderOptions whole{.max_tool_result_bytes = 0, .language = turn.language};
    const Outline outline = turn.outline();
    std::string text;
    for (const std::size_t i : folded) {
        std::size_t p = 0;
        turn.visit_parts(i, [&](const PartView& part) {
            if (const auto entry = render_part(part, outline[i], p++, whole))
                append_text(text, *entry, entry->body, false);
        });
    }
    return text;
}

/// Of "c1/folded/12-480" 480.
Serial last_in(std::string_view key) {
    Serial last = 0;
    std::string_view name = key.substr(key.find(folder) + folder.size());
    name.remove_prefix(std::min(name.find('-') + 1, name.size()));
    std::from_chars(name.data(), name.data() + name.size(), last);
    return last;
}

/// By the messages that came from outside: a summary among them has a number of its own, above those behind it.
std::string name_of_folded(const Outline& outline, std::span<const std::size_t> folded) {
    std::vector<Serial> serials;
    for (const std::size_t i : folded) {
        const Mark& mark = outline[i].mark;
        if (!mark || mark->covers.empty()) serials.push_back(outline[i].serial);
    }
    if (serials.empty()) serials = covered_serials(outline, folded);
    const auto [first, last] = std::ranges::minmax(serials);
    return fmt::format("{}-{}", first, last);
}

/// The objects of earlier folds that the summaries among `folded` stand for.
std::vector<std::string> earlier_objects(const Outline& outline, std::span<const std::size_t> folded) {
    std::vector<std::string> keys = stored_references(outline, folded);
    std::erase_if(keys, [](const std::string& key) { return key.find(folder) == std::string::npos; });
    std::ranges::stable_sort(keys, {}, last_in);
    return keys;
}

}  // namespace

FoldedObject folded_object(const HookTurn& turn, std::span<const std::size_t> folded) {
    const Outline outline = turn.outline();
    FoldedObject object{.storage = turn.config.storage,
                        .content = text_of_folded(turn, folded),
                        .reader = std::string(reader_among(turn.tools))};
    PlannedKeys planned;
    object.key = free_key(*object.storage,
                          fmt::format("{}{}{}", turn.conversation_id(), folder, name_of_folded(outline, folded)),
                          object.content, planned);
    std::vector<std::string> keys = earlier_objects(outline, folded);
    keys.push_back(object.key);
    const std::size_t first = keys.size() - std::min(keys.size(), most_named);
    for (const std::string& key : std::span(keys).subspan(first))
        object.references.push_back(reference_to(*object.storage, key, object.reader));
    return object;
}

}  // namespace whittle::inline v0::detail
