#include "redaction_note.hpp"

#include <fmt/format.h>

#include <charconv>

namespace whittle::inline v0 {
namespace {

constexpr std::string_view note_begin = "\n[whittle masked ";
constexpr std::string_view note_middle = " places: ";
constexpr std::string_view note_end = "]\n";
constexpr auto note_size = static_cast<std::size_t>(redaction::note_bytes);

}  // namespace

std::string redaction::note_of(const Places& places) {
    std::string rules;
    std::int64_t sum = 0;
    for (const auto& [rule, number] : places) {
        rules += fmt::format("{}{} {}", rules.empty() ? "" : ", ", rule, number);
        sum += number;
    }
    std::string note = fmt::format("{}{}{}{}", note_begin, sum, note_middle, rules);
    note.resize(note_size - note_end.size(), ' ');
    return note.append(note_end);
}

std::optional<RedactionNote> redaction_note(std::string_view object) {
    if (object.size() < note_size) return std::nullopt;
    std::string_view note = object.substr(object.size() - note_size);
    if (!note.starts_with(note_begin) || !note.ends_with(note_end)) return std::nullopt;
    note.remove_prefix(note_begin.size());
    note.remove_suffix(note_end.size());
    std::int64_t places = 0;
    const auto [end, error] = std::from_chars(note.data(), note.data() + note.size(), places);
    note.remove_prefix(static_cast<std::size_t>(end - note.data()));
    if (error != std::errc() || places < 0 || !note.starts_with(note_middle)) return std::nullopt;
    note.remove_prefix(note_middle.size());
    const std::string_view rules = note.substr(0, note.find_last_not_of(' ') + 1);
    return RedactionNote{places, std::string(rules), redaction::note_bytes};
}

}  // namespace whittle::inline v0
