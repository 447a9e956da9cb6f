// What a message of a wire format owes, whatever bytes it was read from: it can be read, saved and edited, and obeys
// the laws of the traits.
#pragma once

#include "whittle/base/text.hpp"
#include "whittle/message/traits.hpp"
#include "whittle/provider/detail/json_message.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace fuzzing {

inline void require(bool holds) {
    if (!holds) __builtin_trap();
}

template <typename M>
std::size_t count_parts(const M& m) {
    return whittle::parts_of(m).size();
}

template <typename M>
void check_codec(const M& m) {
    using Traits = whittle::message_traits<M>;
    require(Traits::from_bytes(Traits::to_bytes(m)) == m);
}

template <typename M>
void check_set_text(M m, std::size_t part, const std::string& text) {
    using Traits = whittle::message_traits<M>;
    const std::string before = Traits::to_bytes(m);
    const std::size_t parts = count_parts(m);
    try {
        Traits::set_text(m, part, "{}");
    } catch (const whittle::Error&) {
        require(Traits::to_bytes(m) == before);
        return;
    }
    require(count_parts(m) <= parts);
    require(whittle::text_of(m, part) == "{}");
    try {
        Traits::set_text(m, part, text);
    } catch (const whittle::Error&) {
        return;  // the old arguments were no object
    }
    if (whittle::text_of(m, part) != text) return;  // it was a medium
    check_codec(m);
}

template <typename M>
void check_erase(M m, std::size_t part) {
    const std::size_t parts = count_parts(m);
    whittle::message_traits<M>::erase_part(m, part);
    require(count_parts(m) <= parts);
    check_codec(m);
}

template <typename M>
void check(const M& m) {
    check_codec(m);
    const std::size_t parts = count_parts(m);
    for (std::size_t part = 0; part < parts && part < 8; ++part) {
        check_set_text(m, part, whittle::text_of(m, part));
        check_erase(m, part);
    }
}

/// Any bytes, as JSON of a message and as the bytes of a saved one.
template <typename M>
void check_bytes(std::string_view text) {
    using Traits = whittle::message_traits<M>;
    whittle::ParseNotes notes;
    try {
        const M m = M::parse(text, &notes);
        require(Traits::to_bytes(m) == m.json().dump());
        check(m);
    } catch (const whittle::Error& e) {
        require(e.errc() == whittle::Errc::parse_failed);
        require(whittle::is_valid_utf8(e.what()));
    }
    try {
        check_codec(Traits::from_bytes(text));
    } catch (const whittle::Error& e) {
        require(e.errc() == whittle::Errc::parse_failed);
    }
}

}  // namespace fuzzing
