#include "read_back.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>

namespace whittle::inline v0::detail {

std::optional<std::string> problem_of(FunctionRef<void()> work) {
    try {
        work();
        return std::nullopt;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled) throw;
        return error.what();
    } catch (const std::exception& error) {  // of a backend that is not ours
        return error.what();
    }
}

namespace {

// What a model puts around a reference, or copies with it: single bytes, and characters of three bytes.
constexpr std::string_view wrappers = " \t\r\n\"'`*()[]{}<>.,;:!?|";
constexpr std::string_view wide_wrappers = "\u201C\u201D\u2018\u2019\u300C\u300D\u3002";

/// How many bytes at that end of `text` are such a character. A dot in front is none: without it, a path that climbs
/// would be another one.
std::size_t wrapper_size(std::string_view text, bool is_front) noexcept {
    if (text.empty()) return 0;
    const char end = is_front ? text.front() : text.back();
    if (wrappers.find(end) != std::string_view::npos) return is_front && end == '.' ? 0 : 1;
    if (text.size() < 3) return 0;
    const std::size_t at = wide_wrappers.find(is_front ? text.substr(0, 3) : text.substr(text.size() - 3));
    return at != std::string_view::npos && at % 3 == 0 ? 3 : 0;
}

/// Without what stands in front of it and without a scheme, then with less and less behind it.
std::optional<StoredObject> find_stripped(const StoredObjects& objects, const std::shared_ptr<Storage>& otherwise,
                                          std::string_view text) {
    constexpr int most = 16;
    while (const std::size_t size = wrapper_size(text, true)) text.remove_prefix(size);
    for (const std::string_view scheme : {std::string_view("ref://"), std::string_view("file://")}) {
        if (const auto at = text.find(scheme); at != std::string_view::npos) text.remove_prefix(at + scheme.size());
    }
    for (int i = 0; i < most && !text.empty(); ++i) {
        if (auto object = objects.find(text, otherwise)) return object;
        const std::size_t size = wrapper_size(text, false);
        if (size == 0) break;
        text.remove_suffix(size);
    }
    return std::nullopt;
}

}  // namespace

std::optional<StoredObject> find_copied(const ToolContext& context, const std::shared_ptr<Storage>& otherwise,
                                        std::string_view reference) {
    constexpr int most_words = 64;
    if (!context.objects) return std::nullopt;
    if (auto object = context.objects->find(reference, otherwise)) return object;
    if (auto object = find_stripped(*context.objects, otherwise, reference)) return object;
    int words = 0;
    for (std::size_t at = 0; at < reference.size() && words < most_words; ++words) {
        const std::size_t end = std::min(reference.find_first_of(" \t\r\n", at), reference.size());
        if (auto object = find_stripped(*context.objects, otherwise, reference.substr(at, end - at))) return object;
        at = end + 1;
    }
    return std::nullopt;
}

std::string note_on_masks(const StoredObject& object, Language language) {
    const std::int64_t places = object.storage->masked_places(object.key);
    if (places == 0) return {};
    if (language == Language::chinese) return fmt::format("[存储前已遮盖 {} 处，非原文]", places);
    return fmt::format("[{} {} of it {} masked before it was stored: this is not the original]", places,
                       places == 1 ? "place" : "places", places == 1 ? "was" : "were");
}

void emit_read_back(const ToolContext& context, std::string_view tool, const std::string& text) {
    if (context.events == nullptr) return;
    emit(*context.events, {.source = tool, .kind = "read_back", .text = text, .conversation = context.conversation_id});
}

}  // namespace whittle::inline v0::detail
