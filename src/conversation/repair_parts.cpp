#include "repair_history.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

void mend_part(RepairHistory& h, std::size_t message, std::size_t p, bool holds_results, bool is_running) {
    const PartInfo& info = h.outline[message].parts[p];
    const auto edit = [&](PartRepair::Kind kind, std::string_view code, std::string text) {
        h.items[message].edits.push_back({kind, p, code, {}, {}});
        h.note(message, p, code, std::move(text));
    };
    const bool is_text = info.kind == PartKind::text;
    const bool is_blank = is_text && ((info.is_blank && h.has(Rule::A5_blank_text)) ||
                                      (info.text_bytes == 0 && h.has(Rule::GM6_empty_parts)));
    const bool is_garbled = info.is_invalid_utf8 && h.has(Rule::G1_utf8);
    if (is_blank) return h.erase(message, p, "blank_text");
    if (is_garbled && info.kind == PartKind::thinking) {  // never edited: all of the message goes
        for (std::size_t other = 0; other < h.outline[message].parts.size(); ++other) {
            if (h.outline[message].parts[other].kind == PartKind::thinking) h.erase(message, other, "bad_utf8");
        }
        return;
    }
    if (is_garbled && info.kind == PartKind::other) return h.erase(message, p, "bad_utf8");
    if (is_garbled && info.text_bytes > 0 &&
        (is_text || info.kind == PartKind::tool_result))  // else its id is: renamed
        edit(PartRepair::Kind::valid_utf8, "bad_utf8", "bytes that are not UTF-8 become U+FFFD");
    if (info.kind == PartKind::media && h.has(Rule::OC6_text_only_results) && holds_results)
        edit(PartRepair::Kind::media_text, "media_in_result", "media in a result become a sentence");
    const bool is_bad_call = info.kind == PartKind::tool_call && !info.has_object_arguments;
    if (is_bad_call && (h.has(Rule::G4_object_arguments) || is_garbled)) {
        if (is_running && !h.abilities.makes_results) return;  // a tool may still run with them
        edit(PartRepair::Kind::empty_arguments, "bad_arguments", "arguments that are no JSON object become {}");
    }
}

/// A message in which nothing is left, or a reply without content where that is a rule.
bool says_nothing(const RepairHistory& h, std::size_t message) {
    const MessageInfo& info = h.outline[message];
    const bool is_cut = h.is_cut(message);
    const bool is_prefill = info.parts.empty() && message + 1 == h.outline.size() && h.options.for_request;
    if (!h.items[message].is_broken && !is_cut && !is_prefill) return false;
    const bool has_part = h.any_left(message, [](const PartInfo&) { return true; });
    const bool has_content = h.any_left(message, [](const PartInfo& part) {
        return part.kind == PartKind::text ? part.text_bytes > 0 : part.kind != PartKind::thinking;
    });
    const bool needs_part = is_cut || h.has(Rule::A5_blank_text) || h.has(Rule::GM6_empty_parts);
    const bool is_mute = info.role == Role::assistant && !has_content && h.has(Rule::OC3_content);
    return is_mute || (!has_part && needs_part);
}

}  // namespace

void mend_parts(RepairHistory& h) {
    const auto running = h.running_call();
    for (std::size_t i = 0; i < h.outline.size(); ++i) {
        if (!h.items[i].is_broken) continue;
        const bool holds_results = h.holds_results(i);
        for (std::size_t p = 0; p < h.outline[i].parts.size(); ++p) {
            if (h.is_left(i, p)) mend_part(h, i, p, holds_results, running == i);
        }
    }
    for (std::size_t i = 0; i < h.outline.size(); ++i) {
        if (h.items[i].is_dropped || !says_nothing(h, i)) continue;
        h.note(i, 0, "empty_message", "a message without content is left out");
        h.items[i].is_dropped = true;
    }
}

}  // namespace whittle::inline v0::detail
