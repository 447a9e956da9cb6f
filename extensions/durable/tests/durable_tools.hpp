// What the tests of durable conversations share.
#pragma once

#include "support/catch.hpp"
#include "support/storage_tools.hpp"
#include "support/temp_dir.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/saved/side_table.hpp"

#include <memory>
#include <string>
#include <vector>

namespace whittle::testing {

/// Everything of a conversation as text: its messages by the codec, and its side table.
template <AgentMessage M>
std::string everything_of(const Conversation<M>& conversation) {
    std::string text = to_side_table(conversation) + "\n";
    for (const M& m : conversation.messages()) text += message_traits<M>::to_bytes(m) + "\n";
    return text;
}

/// A store that others see too, with what a test wants to happen in front of calls.
class WatchedStorage final : public Storage {
public:
    explicit WatchedStorage(std::shared_ptr<Storage> inner) : inner_(std::move(inner)) {}

    std::function<void(std::string_view key)> before_put = [](std::string_view) {};
    std::function<void(std::string_view key)> after_put = [](std::string_view) {};
    std::function<void(std::string_view key)> before_get = [](std::string_view) {};

    void put_if_absent(std::string_view key, std::string_view content) override {
        before_put(key);
        inner_->put_if_absent(key, content);
        bytes_put += static_cast<std::int64_t>(content.size());
        ++puts;
        after_put(key);
    }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        before_get(key);
        return inner_->get(key, offset, max_bytes);
    }
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        inner_->list(prefix, visit);
    }
    bool remove(std::string_view key) override { return inner_->remove(key); }

    std::int64_t bytes_put = 0;
    int puts = 0;

private:
    std::shared_ptr<Storage> inner_;
};

/// Puts and gets, nothing else.
class SmallestStorage final : public Storage {
public:
    void put_if_absent(std::string_view key, std::string_view content) override { inner_->put_if_absent(key, content); }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        return inner_->get(key, offset, max_bytes);
    }

private:
    std::shared_ptr<Storage> inner_ = memory_storage();
};

/// Puts other bytes in the place of an object.
inline void replace_object(Storage& storage, const std::string& key, std::string_view content) {
    REQUIRE(storage.remove(key));
    storage.put_if_absent(key, content);
}

inline std::vector<std::string> texts_of(const Conversation<>& conversation) {
    std::vector<std::string> texts;
    for (const ChatMessage& m : conversation.messages()) texts.push_back(text_of(m));
    return texts;
}

}  // namespace whittle::testing
