#pragma once

#include <whittle/message/traits.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

struct Note {
    bool from_user = true;
    std::string text{};
};

template <>
struct whittle::message_traits<Note> {
    static Role role(const Note& note) { return note.from_user ? Role::user : Role::assistant; }

    template <typename Visit>
    static void for_each_part(const Note& note, Visit&& visit) {
        if (!note.text.empty()) visit(PartView{.kind = PartKind::text, .text = note.text});
    }

    static void set_text(Note& note, std::size_t part, std::string_view text) {
        if (part != 0 || note.text.empty()) throw std::out_of_range("a note has one part");
        note.text = std::string(text);  // a copy first: `text` may look into the note
    }

    static void erase_part(Note& note, std::size_t) { note.text.clear(); }

    static Note make(Role role, std::string_view text) { return {role != Role::assistant, std::string(text)}; }
};

static_assert(whittle::AgentMessage<Note>);
