#include "read_back.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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

/// What a model puts around a reference, or copies with it. A key may end with a dot, so that one after the other goes.
constexpr std::array<std::string_view, 30> wrappers{" ",
                                                    "\t",
                                                    "\r",
                                                    "\n",
                                                    "\"",
                                                    "'",
                                                    "`",
                                                    "*",
                                                    "(",
                                                    ")",
                                                    "[",
                                                    "]",
                                                    "{",
                                                    "}",
                                                    "<",
                                                    ">",
                                                    ".",
                                                    ",",
                                                    ";",
                                                    ":",
                                                    "!",
                                                    "?",
                                                    "|",
                                                    "\xE2\x80\x9C",
                                                    "\xE2\x80\x9D",
                                                    "\xE2\x80\x98",
                                                    "\xE2\x80\x99",
                                                    "\xE3\x80\x8C",
                                                    "\xE3\x80\x8D",
                                                    "\xE3\x80\x82"};

/// A dot in front stays: without it, a path that climbs would be another one.
bool drop_front(std::string_view& text) noexcept {
    for (const std::string_view wrapper : wrappers) {
        if (wrapper != "." && text.starts_with(wrapper)) return text.remove_prefix(wrapper.size()), true;
    }
    return false;
}

bool drop_back(std::string_view& text) noexcept {
    for (const std::string_view wrapper : wrappers) {
        if (text.ends_with(wrapper)) return text.remove_suffix(wrapper.size()), true;
    }
    return false;
}

/// Without what stands in front of it and without a scheme, then with less and less behind it.
std::optional<StoredObject> find_stripped(const StoredObjects& objects, const std::shared_ptr<Storage>& otherwise,
                                          std::string_view text) {
    constexpr int most = 16;
    while (drop_front(text)) {
    }
    for (const std::string_view scheme : {std::string_view("ref://"), std::string_view("file://")}) {
        if (const auto at = text.find(scheme); at != std::string_view::npos) text.remove_prefix(at + scheme.size());
    }
    for (int i = 0; i < most && !text.empty(); ++i) {
        if (auto object = objects.find(text, otherwise)) return object;
        if (!drop_back(text)) break;
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

void tell_read_back(const ToolContext& context, std::string_view tool, const std::string& text) {
    if (context.events == nullptr) return;
    emit(*context.events, {.source = tool, .kind = "read_back", .text = text, .conversation = context.conversation});
}

}  // namespace whittle::inline v0::detail
