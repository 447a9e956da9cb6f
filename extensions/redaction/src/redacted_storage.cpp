#include "whittle/redaction/redacted_storage.hpp"

#include "redacted_writer.hpp"
#include "redaction_note.hpp"
#include "whittle/base/error.hpp"
#include "whittle/storage/detail/range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {
namespace {

using redaction::note_bytes;

/// What an object of whittle::encryption begins with: it cannot be masked any more.
constexpr std::string_view encrypted_magic{"whseal\1"};

class RedactedStorage final : public Storage, public std::enable_shared_from_this<RedactedStorage> {
public:
    RedactedStorage(std::shared_ptr<Storage> inner, RedactionRules rules)
        : inner_(std::move(inner)), redactor_(std::move(rules)) {
        if (!inner_) throw Error(Errc::invalid_config, "redacted_storage: inner is null");
    }

    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        require_not_encrypted(key, content);
        const Redacted redacted = redactor_.text_or_json(content);
        put_with_note(key, redacted.text, redacted.places);
    }

    void put_verbatim(std::string_view key, std::string_view content) override { put_with_note(key, content, {}); }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        require_range(key, offset, max_bytes);
        if (offset == 0 && max_bytes == INT64_MAX) return whole(key);
        const auto object = inner_->stat(key);
        if (!object) return std::nullopt;
        const std::int64_t length = object->bytes - bytes_of_note(*object);
        const std::int64_t from = std::min(offset, length);
        return inner_->get(key, from, std::min(max_bytes, length - from));
    }

    std::unique_ptr<StorageWriter> open_writer() override {
        return redaction::redacted_writer(*inner_, redactor_, shared_from_this());
    }
    bool can_stream() override { return inner_->can_stream(); }

    std::optional<ObjectInfo> stat(std::string_view key) override {
        auto object = inner_->stat(key);
        if (object) object->bytes -= bytes_of_note(*object);
        return object;
    }

    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        inner_->list(prefix, [&](const ObjectInfo& object) {
            return visit({object.key, object.bytes - bytes_of_note(object), object.stored_at_seconds});
        });
    }

    bool remove(std::string_view key) override { return inner_->remove(key); }
    std::string locate(std::string_view key) const override { return inner_->locate(key); }

    bool masks() const noexcept override { return true; }
    std::optional<std::string> masked(std::string_view content) const override {
        Redacted redacted = redactor_.text_or_json(content);
        if (redacted.places.empty()) return std::nullopt;
        return std::move(redacted.text);
    }

    std::int64_t masked_places(std::string_view key) override {
        const auto object = inner_->stat(key);
        const auto note = object ? note_in(*object) : std::nullopt;
        return note ? note->places : 0;
    }

private:
    /// What would be taken for a note gets one, so that reading takes the right one away.
    void put_with_note(std::string_view key, std::string_view content, const redaction::Places& places) {
        if (places.empty() && !redaction_note(content)) return inner_->put_if_absent(key, content);
        inner_->put_if_absent(key, std::string(content) + redaction::note_of(places));
    }

    /// Masks would destroy it.
    static void require_not_encrypted(std::string_view key, std::string_view content) {
        if (!content.starts_with(encrypted_magic)) return;
        throw Error(
            Errc::invalid_argument,
            fmt::format("put \"{}\": it is encrypted already; redact outside: redacted_storage(encrypted_storage("
                        "...))",
                        key));
    }

    [[nodiscard]] std::optional<std::string> whole(std::string_view key) {
        auto object = inner_->get(key);
        if (object) {
            if (const auto note = redaction_note(*object))
                object->resize(object->size() - static_cast<std::size_t>(note->note_bytes));
        }
        return object;
    }

    [[nodiscard]] std::optional<RedactionNote> note_in(const ObjectInfo& object) {
        if (object.bytes < note_bytes) return std::nullopt;
        const auto end = inner_->get(object.key, object.bytes - note_bytes, note_bytes);
        return end ? redaction_note(*end) : std::nullopt;
    }

    /// What is damaged is told by who reads it.
    [[nodiscard]] std::int64_t bytes_of_note(const ObjectInfo& object) {
        try {
            return note_in(object) ? note_bytes : 0;
        } catch (const Error& error) {
            if (error.errc() != Errc::damaged && error.errc() != Errc::not_found) throw;
            return 0;
        }
    }

    std::shared_ptr<Storage> inner_;
    Redactor redactor_;
};

}  // namespace

std::shared_ptr<Storage> redacted_storage(std::shared_ptr<Storage> inner, RedactionRules rules) {
    return std::make_shared<RedactedStorage>(std::move(inner), std::move(rules));
}

}  // namespace whittle::inline v0
