// Any bytes: what parses as an OpenAI message can be read, saved and edited, and obeys the laws of the traits.
#include "whittle/adapter/openai.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using whittle::openai::Message;
using Traits = whittle::message_traits<Message>;

void require(bool holds) {
    if (!holds) __builtin_trap();
}

std::size_t count_parts(const Message& m) { return whittle::parts_of(m).size(); }

void check_codec(const Message& m) { require(Traits::from_bytes(Traits::to_bytes(m)) == m); }

void check_set_text(Message m, std::size_t part, const std::string& text) {
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

void check_erase(Message m, std::size_t part) {
    const std::size_t parts = count_parts(m);
    Traits::erase_part(m, part);
    require(count_parts(m) <= parts);
    check_codec(m);
}

void check(const Message& m) {
    check_codec(m);
    const std::size_t parts = count_parts(m);
    for (std::size_t part = 0; part < parts && part < 8; ++part) {
        check_set_text(m, part, whittle::text_of(m, part));
        check_erase(m, part);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    whittle::ParseNotes notes;
    try {
        const Message m = Message::parse(text, &notes);
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
    return 0;
}
