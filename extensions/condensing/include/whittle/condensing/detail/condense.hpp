#pragma once

#include "whittle/base/language.hpp"
#include "whittle/chain/hook_turn.hpp"
#include "whittle/condensing/config.hpp"
#include "whittle/conversation/tool.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

/// What a text is.
enum class TextFormat { other, json, json_lines, log, diff, html, table };

/// Its name in the notice above the text.
[[nodiscard]] std::string_view to_string(TextFormat format, Language language) noexcept;

/// A shorter form of a text, without the notice that goes with it.
struct CondensedText {
    TextFormat format = TextFormat::other;
    std::string text{};
    bool is_lossless = false;  ///< nothing that the text says is missing
    bool is_extract = false;   ///< a model wrote it: what is missing has no marks
    std::string legend{};      ///< what the marks in it mean, and what was left out, in the notice's language
};

/// Who wrote a text. Lines of a program that repeat are a log even without times; those of anything else may be data.
enum class TextAuthor { unknown, program };

/// The form of `text`, whatever its size and gain; nullopt if it is of no known format, or there is nothing to leave
/// out. Linear in the text, without recursion on its depth.
[[nodiscard]] std::optional<CondensedText> condense(std::string_view text, const CondensingConfig& config,
                                                    Language language, TextAuthor author = TextAuthor::unknown);

/// Where the original of a condensed text is, for its notice.
struct CondensedSource {
    std::string_view tool{};
    std::int64_t bytes = 0;
    std::int64_t lines = 0;
    std::string_view location{};  ///< empty: it is stored nowhere
    std::string_view reader{};    ///< tool that reads it; empty: none is listed
};

/// The notice, which stands in front of the form. Constant bytes for the same input.
[[nodiscard]] std::string condensing_notice(const CondensedText& form, const CondensedSource& source,
                                            Language language);

/// Keeps the user's newest request beside the conversation, where `config` has a model that writes extracts.
void prepare_condensing(const CondensingConfig& config, HookTurn& turn, std::string_view by);

/// Runs a tool and passes its result on, each long text in its form. The result of a failed call passes as it came, as
/// does one that shows a stored text again, and one that cannot be stored. Throws only what the tool throws, after what
/// came before has been passed on. Thread-safe.
ToolOutcome run_condensed(const CondensingConfig& config, std::string_view by, const ToolContext& context,
                          PartSink& out, const ToolNext& next);

}  // namespace whittle::inline v0
