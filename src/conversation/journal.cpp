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

std::string fetch(const StoredObjects& objects, const StoredText& text) {
    require_storage(text);
    if (objects.may_read(text.key, text.storage)) return fetch_own(text);
    throw Error(Errc::not_found,
                fmt::format("fetch \"{}\": it lies below no root of this conversation; name the root when the "
                            "conversation is loaded",
                            text.key));
}

std::string fetch_own(const StoredText& text) {
    require_storage(text);
    auto content = text.storage->get(text.key);
    if (!content) throw Error(Errc::not_found, fmt::format("fetch \"{}\": the store has no such object", text.key));
    return text.element ? text_in_content(*content, *text.element) : *std::move(content);
}

std::string TextFetcher::fetch(const StoredObjects& objects, const StoredText& text) {
    if (!text.element) return whittle::fetch(objects, text);
    if (!content_ || key_ != text.key || storage_ != text.storage) {
        StoredText whole = text;
        whole.element.reset();
        content_.emplace(whittle::fetch(objects, whole));
        key_ = text.key;
        storage_ = text.storage;
    }
    return content_->text(*text.element);
}

void sort_by_message(std::span<StoredText> texts) {
    const auto place = [](const StoredText& text) { return std::pair(text.splice, text.message); };
    if (!std::ranges::is_sorted(texts, {}, place)) std::ranges::stable_sort(texts, {}, place);
}

namespace {

template <typename Texts, typename Get>
std::size_t count_same_message(Texts texts, Get get) noexcept {
    std::size_t same = 0;
    while (same < texts.size() && get(texts[same]).splice == get(texts[0]).splice &&
           get(texts[same]).message == get(texts[0]).message)
        ++same;
    return same;
}

}  // namespace

std::size_t count_of_first_message(std::span<const StoredText> texts) noexcept {
    return count_same_message(texts, [](const StoredText& text) -> const StoredText& { return text; });
}

std::size_t count_of_first_message(std::span<const StoredText* const> texts) noexcept {
    return count_same_message(texts, [](const StoredText* text) -> const StoredText& { return *text; });
}

void take_texts(JournalRecord& record, std::span<StoredText> texts) {
    record.texts.insert(record.texts.end(), std::move_iterator(texts.begin()), std::move_iterator(texts.end()));
}

void copy_texts(JournalRecord& record, std::span<const StoredText> texts) {
    record.texts.insert(record.texts.end(), texts.begin(), texts.end());
}

std::vector<const StoredText*> by_message(std::span<const StoredText> texts) {
    std::vector<const StoredText*> sorted;
    sorted.reserve(texts.size());
    for (const StoredText& text : texts) sorted.push_back(&text);
    std::ranges::stable_sort(sorted, {}, [](const StoredText* text) { return std::pair(text->splice, text->message); });
    return sorted;
}

void throw_damaged(std::string_view attempted, const StoredText& text) {
    throw Error(Errc::damaged, fmt::format("{}: the object \"{}\" does not give back the message it was taken from",
                                           attempted, text.key));
}

}  // namespace whittle::inline v0
