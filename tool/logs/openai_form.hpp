#pragma once

#include "entries.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Parts of OpenAI chat messages, made of what other forms have.
namespace whittle::inline v0::logs {

[[nodiscard]] ordered_json openai_call(std::string_view id, std::string_view name, std::string arguments);
[[nodiscard]] ordered_json openai_result(std::string_view id, ordered_json content);

/// Content of a Responses item: a string, or items of type input_text, output_text, text, refusal and input_image.
/// Texts alone become one string. Kinds that are not known are counted as `what`/kind.
[[nodiscard]] ordered_json to_openai_content(ordered_json content, std::string_view what, LogNotes& notes);

/// The parts of a model's reply that came one by one.
class ReplyParts {
public:
    void add_text(std::string_view text);
    void call(ordered_json tool_call) { calls_.push_back(std::move(tool_call)); }
    [[nodiscard]] bool empty() const noexcept { return text_.empty() && calls_.empty(); }
    [[nodiscard]] ordered_json message() const;

private:
    std::string text_{};
    ordered_json calls_ = ordered_json::array();
};

}  // namespace whittle::inline v0::logs
