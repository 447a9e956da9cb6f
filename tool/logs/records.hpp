#pragma once

#include "logs.hpp"
#include "whittle/provider/detail/json_text.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0::logs {

using detail::ValueBudget;

/// Of which records long texts are cut where only bills are wanted.
enum class CutTexts : std::uint8_t { without_usage, all };

/// The lines of a log, each of them a JSON object. Lines that are none are noted as damaged; blank ones are passed
/// over.
class Records {
public:
    /// `cut_texts`: `all` where nothing of a bill is told by texts.
    Records(std::istream& in, const LogOptions& options, LogNotes& notes, CutTexts cut_texts = CutTexts::without_usage)
        : in_(&in), options_(&options), notes_(&notes), cut_texts_(cut_texts) {}

    /// nullopt at the end.
    [[nodiscard]] std::optional<nlohmann::ordered_json> next();
    /// The same, but a file whose first line is no whole JSON value is one record.
    [[nodiscard]] std::optional<nlohmann::ordered_json> next_or_document();
    /// Values of any kind, a line each: what the last ones hold of a document over several lines is one value, but an
    /// array that is whole on its line is the next one. Counts no records.
    [[nodiscard]] std::optional<nlohmann::ordered_json> next_value();
    /// Whether the file is an array. Passes over what is blank in front of it.
    [[nodiscard]] bool begins_array();
    /// Of what `next` gave; from 1.
    [[nodiscard]] std::size_t line() const noexcept { return line_; }

private:
    [[nodiscard]] bool next_line();
    [[nodiscard]] bool take_lines_of_value();
    [[nodiscard]] std::optional<nlohmann::ordered_json> value_of_line();
    [[nodiscard]] std::optional<nlohmann::ordered_json> record_of_line();
    [[nodiscard]] std::string too_long() const;
    void skip_rest_of_line();

    std::istream* in_;
    const LogOptions* options_;
    LogNotes* notes_;
    CutTexts cut_texts_;
    std::string text_{};
    std::string shortened_{};  // of it, where only bills are wanted
    std::string ahead_{};      // a line that was read already
    ValueBudget values_{};
    std::size_t line_ = 0;
    bool has_begun_ = false;
};

/// Every object of a file of lines, of one document, or of an array; what else an array holds is noted as damaged.
void each_record(std::istream& in, const LogOptions& options, LogNotes& notes,
                 FunctionRef<void(const nlohmann::ordered_json& record, std::size_t line)> visit);

/// The whole of a file as one JSON value. nullopt if it is none, which is noted with its reason.
[[nodiscard]] std::optional<nlohmann::ordered_json> read_document(std::istream& in, const LogOptions& options,
                                                                  LogNotes& notes);

/// Parses `text`, or notes why line `line` is damaged; what was mended in it is noted too.
[[nodiscard]] std::optional<nlohmann::ordered_json> parse_record(std::string_view text, std::size_t line,
                                                                 const LogOptions& options, LogNotes& notes);

/// A value, or what its text holds where it is one; nullopt if that is no JSON, or more values than `values` has left,
/// which is the caller's to note. Only what was mended is noted; `line` 0: not known.
[[nodiscard]] std::optional<nlohmann::ordered_json> json_in(const nlohmann::ordered_json& value, std::size_t line,
                                                            const LogOptions& options, LogNotes& notes,
                                                            ValueBudget& values);

/// The id of a session that has none: the stem of the file's name.
[[nodiscard]] std::string stem_of(const LogOptions& options);

/// Notes a version of the agent; above `known`, which is "2.1" for all of 2.1, as newer than the reader.
void note_version(LogNotes& notes, std::string_view version, std::string_view known);

}  // namespace whittle::inline v0::logs
