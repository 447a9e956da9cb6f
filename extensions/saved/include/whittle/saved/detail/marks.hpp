#pragma once

#include "whittle/conversation/detail/side_table.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/storage/storage.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Marks that go with messages: an id at each message names a place in an object of the store.

namespace whittle::inline v0::detail {

/// Puts what is known of the messages into `storage`, in objects of neighbouring messages, and returns an id for each
/// message. The same knowledge has the same objects and ids.
[[nodiscard]] std::vector<std::string> save_marks(const std::string& conversation, const Outline& outline,
                                                  const Counters& counters, Storage& storage);

/// What is known of the front of a list; nothing is known of any message behind it.
struct MarkedList {
    std::vector<MessageInfo> infos{};
    Counters counters{};
};

/// Takes a list message by message, and believes ids that an object of the store knows.
class KnownMarks {
public:
    /// Throws Error(invalid_argument) for an empty id or no storage. Borrows it.
    KnownMarks(std::string_view conversation, Storage* storage);

    /// The next message, as it describes itself. `mark_id` is untrusted; empty: it has none.
    void add(MessageInfo described, std::string_view mark_id);
    [[nodiscard]] MarkedList take();

private:
    struct Object {
        std::vector<MessageInfo> infos{};
        std::optional<Counters> counters{};
        std::size_t size = 0;  ///< of the list that it was saved of
    };
    struct Message {
        MessageInfo info{};
        bool is_known = false;
    };

    [[nodiscard]] const Object* load(const std::string& name);
    [[nodiscard]] const MessageInfo* find(std::string_view mark_id, const Object*& object);
    void renumber();
    [[nodiscard]] Counters counters() const;

    std::string conversation_;
    Storage& storage_;
    std::map<std::string, std::optional<Object>, std::less<>> objects_{};  // by name; nullopt: the store has none
    std::vector<Message> messages_{};
    const Object* newest_ = nullptr;  // of the last message that is known
    Serial last_known_ = 0;           // as it was saved
    std::size_t known_ = 0;
};

}  // namespace whittle::inline v0::detail
