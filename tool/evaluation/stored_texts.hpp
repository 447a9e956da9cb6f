#pragma once

#include "shown_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::evaluation {

/// Whether the texts of recorded messages stand in objects that the newest request names, or that these name.
class StoredTexts {
public:
    StoredTexts(const SessionData& session, ShownMessages& shown, NamedObjects& objects)
        : session_(session), shown_(shown), objects_(objects) {}

    /// `shown` took another request.
    void forget_names() { known_ = Known::nothing; }
    /// Every text of the message stands in one of them, or in several. False without a store.
    [[nodiscard]] bool hold(std::size_t message);
    /// The needle stands in one of them. False without a store.
    [[nodiscard]] bool hold_needle(Needle needle);

private:
    /// Whose names `named_` has: of the request, or also of the objects that it names.
    enum class Known : std::uint8_t { nothing, in_request, all };

    struct Search {
        std::vector<Gram> grams{};
        std::vector<ObjectId> found_in{};
        std::vector<bool> is_done{};  // by object
    };

    void take(const std::vector<ObjectId>& objects);
    void take_names();
    void take_all_names();
    [[nodiscard]] bool is_named(ObjectId object) const { return object < is_named_.size() && is_named_[object]; }
    [[nodiscard]] bool is_held(std::size_t message, std::string_view text, std::size_t number);

    const SessionData& session_;
    ShownMessages& shown_;
    NamedObjects& objects_;
    Known known_ = Known::nothing;
    std::vector<ObjectId> named_{};                                  // newest first
    std::vector<bool> is_named_{};                                   // by object
    std::unordered_map<Hash128, Search, Hash128Hasher> searches_{};  // by message and number of its text
};

/// Calls `is_there(text, number)` for each text that a message holds until one is not.
template <typename IsThere>
bool all_texts(const Message& message, IsThere&& is_there) {
    std::size_t number = 0;
    const auto is_present = [&](const std::string& text) {
        ++number;
        return is_blank(text) || text == "{}" || is_there(text, number);
    };
    return is_present(message.content) && std::ranges::all_of(message.calls, is_present, &ToolCall::arguments);
}

}  // namespace whittle::inline v0::evaluation
