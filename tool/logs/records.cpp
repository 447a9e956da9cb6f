#include "records.hpp"

#include "entries.hpp"
#include "logs/detail/short_texts.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_text.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::LineRead;

constexpr std::size_t worth_cutting = 320;  // bytes

bool is_blank_line(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

/// Takes a number off the front of "2.1.48-beta", with the point behind it.
std::optional<int> take_number(std::string_view& version) {
    int number = 0;
    const char* const end = version.data() + version.size();
    const auto [read, error] = std::from_chars(version.data(), end, number);
    if (error != std::errc()) return std::nullopt;
    version.remove_prefix(static_cast<std::size_t>(read - version.data()));
    if (version.starts_with('.')) version.remove_prefix(1);
    return number;
}

bool is_newer(std::string_view version, std::string_view known) {
    while (!known.empty()) {
        const auto of_known = take_number(known);
        const auto of_version = take_number(version);
        if (!of_known || !of_version) return false;
        if (*of_known != *of_version) return *of_version > *of_known;
    }
    return false;
}

}  // namespace

std::optional<nlohmann::ordered_json> Records::next() {
    while (next_line()) {
        if (auto record = record_of_line()) return record;
    }
    return std::nullopt;
}

std::optional<nlohmann::ordered_json> Records::next_or_document() {
    if (std::exchange(has_begun_, true)) return next();
    if (!next_line()) return std::nullopt;
    if (!detail::is_closed_json(text_)) {
        text_ += '\n';
        if (!detail::read_rest(*in_, text_, options_->limits.max_bytes)) {
            note_damage(*notes_, line_, too_long());
            return std::nullopt;
        }
    }
    if (auto record = record_of_line()) return record;
    return next();
}

std::optional<nlohmann::ordered_json> Records::next_value() {
    while (true) {
        if (ahead_.empty()) {
            if (!next_line()) return std::nullopt;
        } else {
            text_ = std::exchange(ahead_, {});
            ++line_;
        }
        const std::size_t first_line = line_;
        if (!detail::is_closed_json(text_) && !take_lines_of_value()) {
            note_damage(*notes_, first_line, too_long());
            continue;
        }
        if (auto value = value_of_line()) return value;
    }
}

/// Appends lines to the one that was read, up to an array that is whole by itself. False if they are too long together.
bool Records::take_lines_of_value() {
    std::string first = std::exchange(text_, {});
    while (next_line()) {
        if (text_.starts_with('[') && text_.size() > 2 && detail::is_closed_json(text_)) {
            ahead_ = std::exchange(text_, std::move(first));
            --line_;
            return true;
        }
        if (first.size() + text_.size() >= options_->limits.max_bytes) return false;
        first.append("\n").append(text_);
    }
    text_ = std::move(first);
    return true;
}

/// nullopt if it is none, which is noted.
std::optional<nlohmann::ordered_json> Records::value_of_line() {
    if (!values_.take(text_)) {
        note_damage(*notes_, line_, ValueBudget::reason);
        return std::nullopt;
    }
    const bool is_cut =
        options_->bills_only && text_.size() > worth_cutting && (cut_texts_ == CutTexts::all || !has_usage(text_));
    if (is_cut) shorten_texts(text_, shortened_);
    return parse_record(is_cut ? shortened_ : text_, line_, *options_, *notes_);
}

/// nullopt if it is no object, which is noted.
std::optional<nlohmann::ordered_json> Records::record_of_line() {
    auto record = value_of_line();
    if (!record) return std::nullopt;
    if (!record->is_object()) {
        note_damage(*notes_, line_, "expected an object, found " + detail::found_text(*record));
        return std::nullopt;
    }
    ++notes_->records;
    return record;
}

std::string Records::too_long() const {
    return "expected at most " + std::to_string(options_->limits.max_bytes) + " bytes, found more";
}

bool Records::next_line() {
    while (true) {
        const LineRead read = detail::read_line(*in_, text_, options_->limits.max_bytes);
        if (read == LineRead::end) return false;
        ++line_;
        if (read == LineRead::too_long) {
            note_damage(*notes_, line_, too_long());
            skip_rest_of_line();
            continue;
        }
        if (line_ == 1 && text_.starts_with("\xEF\xBB\xBF")) text_.erase(0, 3);
        if (!is_blank_line(text_)) return true;
    }
}

bool Records::begins_array() {
    using Traits = std::istream::traits_type;
    constexpr std::string_view blank = " \t\r\n\xEF\xBB\xBF";
    for (auto c = in_->peek(); !Traits::eq_int_type(c, Traits::eof()); c = in_->peek()) {
        const char here = Traits::to_char_type(c);
        if (blank.find(here) == std::string_view::npos) return here == '[';
        if (here == '\n') ++line_;
        in_->get();
    }
    in_->clear();
    return false;
}

void each_record(std::istream& in, const LogOptions& options, LogNotes& notes,
                 FunctionRef<void(const nlohmann::ordered_json& record, std::size_t line)> visit) {
    Records records(in, options, notes);
    if (!records.begins_array()) {
        while (const auto record = records.next_or_document()) visit(*record, records.line());
        return;
    }
    const auto document = read_document(in, options, notes);
    if (!document) return;
    --notes.records;  // its elements are
    for (const nlohmann::ordered_json& record : *document) {
        if (!record.is_object()) {
            note_damage(notes, 1, "expected an object, found " + detail::found_text(record));
            continue;
        }
        ++notes.records;
        visit(record, 1);
    }
}

void Records::skip_rest_of_line() {
    using Traits = std::istream::traits_type;
    for (auto c = in_->rdbuf()->sbumpc(); !Traits::eq_int_type(c, Traits::eof()); c = in_->rdbuf()->sbumpc()) {
        if (Traits::to_char_type(c) == '\n') return;
    }
}

std::optional<nlohmann::ordered_json> read_document(std::istream& in, const LogOptions& options, LogNotes& notes) {
    std::string text;
    if (!detail::read_rest(in, text, options.limits.max_bytes)) {
        note_damage(notes, 1, "expected at most " + std::to_string(options.limits.max_bytes) + " bytes, found more");
        return std::nullopt;
    }
    if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
    if (!ValueBudget().take(text)) {
        note_damage(notes, 1, ValueBudget::reason);
        return std::nullopt;
    }
    auto document = parse_record(text, 1, options, notes);
    if (document) ++notes.records;
    return document;
}

std::optional<nlohmann::ordered_json> parse_record(std::string_view text, std::size_t line, const LogOptions& options,
                                                   LogNotes& notes) {
    const auto check_cancelled = [&] {
        if (options.check_cancelled) options.check_cancelled();
    };
    try {
        bool is_repaired = false;
        auto record = detail::parse_repaired_json("line " + std::to_string(line), text, is_repaired, options.limits,
                                                  nullptr, check_cancelled);
        if (is_repaired) note_repaired(notes, line);
        return record;
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;
        std::string_view what = error.what();
        what.remove_prefix(std::min(what.size(), what.find(": ") + 2));
        note_damage(notes, line, what.substr(0, what.find("; last read")));  // not what stands there: it may be secret
        return std::nullopt;
    }
}

std::optional<nlohmann::ordered_json> json_in(const nlohmann::ordered_json& value, std::size_t line,
                                              const LogOptions& options, LogNotes& notes, ValueBudget& values) {
    if (!value.is_string()) return value;
    const std::string& text = value.get_ref<const std::string&>();
    if (!values.take(text)) return std::nullopt;
    LogNotes own;
    auto json = parse_record(text, line, options, own);
    if (own.repaired > 0) note_repaired(notes, line);
    return json;
}

std::string stem_of(const LogOptions& options) { return std::filesystem::path(options.name).stem().string(); }

void note_version(LogNotes& notes, std::string_view version, std::string_view known) {
    if (version.empty() || notes.versions.contains(std::string(version))) return;
    constexpr std::size_t most = 100;
    if (notes.versions.size() < most) notes.versions.emplace(version);
    if (is_newer(version, known) && notes.newer.size() < most) notes.newer.emplace(version);
}

}  // namespace whittle::inline v0::logs
