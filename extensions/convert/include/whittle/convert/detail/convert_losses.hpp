#pragma once

#include "whittle/base/detail/names.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a conversion between message formats could not carry.
struct ConversionLoss {
    std::size_t message = 0;  ///< index in the input
    std::string what{};       ///< a stable word: "arguments", "media", "thinking", ...
    std::string text{};       ///< one sentence: what became of it

    friend bool operator==(const ConversionLoss&, const ConversionLoss&) = default;
};

/// How messages are written for another provider.
struct ConversionOptions {
    bool tool_names = true;               ///< to OpenAI: tool messages carry the name of their tool
    bool media_in_tool_messages = false;  ///< to OpenAI: for servers that take images there; else behind the results
};

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

/// The losses of one conversion, at the message that is being converted.
class Losses {
public:
    void at(std::size_t message) { message_ = message; }
    void add(std::string_view what, std::string text) {
        all_.push_back({message_, std::string(what), std::move(text)});
        if (has_loss_.size() <= message_) has_loss_.resize(message_ + 1);
        has_loss_[message_] = true;
    }
    /// Members of `value` beside `known`.
    void add_unknown_members(const ordered_json& value, std::initializer_list<std::string_view> known) {
        if (!value.is_object()) return;
        for (const auto& [key, member] : value.items()) {
            if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
            add("member", "\"" + clip_for_error(key) + "\" has no place in the other format");
        }
    }
    [[nodiscard]] bool any_at(std::size_t message) const { return message < has_loss_.size() && has_loss_[message]; }
    [[nodiscard]] std::vector<ConversionLoss> take() {
        std::ranges::stable_sort(all_, {}, &ConversionLoss::message);
        return std::move(all_);
    }

private:
    std::size_t message_ = 0;
    std::vector<ConversionLoss> all_{};
    std::vector<bool> has_loss_{};  // by message
};

/// Tool names by call id.
using CallNames = std::unordered_map<std::string, std::string>;

/// The array if it holds anything but one text; else that text as a string, or null.
[[nodiscard]] inline ordered_json simplest_content(ordered_json items) {
    if (items.empty()) return nullptr;
    if (items.size() == 1 && items[0]["type"] == "text" && items[0].size() == 2) return std::move(items[0]["text"]);
    return items;
}

}  // namespace whittle::inline v0::detail
