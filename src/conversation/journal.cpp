#include "whittle/conversation/journal.hpp"

#include "whittle/base/error.hpp"
#include "whittle/conversation/detail/stored_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace whittle::inline v0 {

namespace {

void require_storage(const StoredText& text) {
    if (text.storage != nullptr) return;
    throw Error(
        Errc::not_found,
        fmt::format("fetch \"{}\": the conversation has no storage; load it with the one it was saved with", text.key));
}

}  // namespace

std::string fetch_text(const StoredObjects& objects, const StoredText& text) {
    require_storage(text);
    if (objects.may_read(text.key, text.storage)) return fetch_trusted_text(text);
    throw Error(Errc::not_found,
                fmt::format("fetch \"{}\": it lies below no root of this conversation; name the root when the "
                            "conversation is loaded",
                            text.key));
}

std::string fetch_trusted_text(const StoredText& text) {
    require_storage(text);
    auto content = text.storage->get(text.key);
    if (!content) throw Error(Errc::not_found, fmt::format("fetch \"{}\": the store has no such object", text.key));
    return text.index_in_object ? text_in_content(*content, *text.index_in_object) : *std::move(content);
}

std::string TextFetcher::fetch_text(const StoredObjects& objects, const StoredText& text) {
    if (!text.index_in_object) return whittle::fetch_text(objects, text);
    if (!content_ || key_ != text.key || storage_ != text.storage) {
        StoredText whole = text;
        whole.index_in_object.reset();
        content_.emplace(whittle::fetch_text(objects, whole));
        key_ = text.key;
        storage_ = text.storage;
    }
    return content_->text(*text.index_in_object);
}

void for_each_message(std::span<StoredText> texts, FunctionRef<void(std::span<StoredText>)> visit) {
    const auto place = [](const StoredText& text) { return std::pair(text.splice, text.message_in_splice); };
    if (!std::ranges::is_sorted(texts, {}, place)) std::ranges::stable_sort(texts, {}, place);
    while (!texts.empty()) {
        const auto end = std::ranges::find_if(
            texts, [&, first = place(texts.front())](const StoredText& text) { return place(text) != first; });
        const auto count = static_cast<std::size_t>(end - texts.begin());
        visit(texts.first(count));
        texts = texts.subspan(count);
    }
}

void add_texts(JournalRecord& record, std::span<StoredText> texts) {
    record.texts_in_store.insert(record.texts_in_store.end(), std::move_iterator(texts.begin()),
                                 std::move_iterator(texts.end()));
}

void throw_damaged(std::string_view operation, const StoredText& text) {
    throw Error(Errc::damaged, fmt::format("{}: the object \"{}\" does not give back the message it was taken from",
                                           operation, text.key));
}

}  // namespace whittle::inline v0
