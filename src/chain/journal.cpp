#include "whittle/chain/journal.hpp"

#include "whittle/base/error.hpp"
#include "whittle/chain/stored_parts.hpp"

#include <fmt/format.h>

namespace whittle::inline v0 {

std::string fetch(const StoredText& text) {
    if (text.storage == nullptr) {
        throw Error(Errc::not_found,
                    fmt::format("fetch \"{}\": the conversation has no storage; load it with the one it was saved with",
                                text.key));
    }
    auto content = text.storage->get(text.key);
    if (!content) throw Error(Errc::not_found, fmt::format("fetch \"{}\": the store has no such object", text.key));
    return text.element ? text_in_content(*content, *text.element) : *std::move(content);
}

void throw_damaged(std::string_view attempted, const StoredText& text) {
    throw Error(Errc::damaged, fmt::format("{}: the object \"{}\" does not give back the message it was taken from",
                                           attempted, text.key));
}

}  // namespace whittle::inline v0
