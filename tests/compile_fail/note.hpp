// A host's message type, and its traits one function at a time: each test leaves one out.
#pragma once

#include <whittle/message/traits.hpp>

#include <string>

struct Note {
    whittle::Role role = whittle::Role::user;
    std::string text{};
};

struct NoteRole {
    static whittle::Role role(const Note& note) { return note.role; }
};

struct NoteForEachPart {
    template <typename Visit>
    static void for_each_part(const Note& note, Visit&& visit) {
        visit(whittle::PartView{.text = note.text});
    }
};

struct NoteSetText {
    static void set_text(Note& note, std::size_t, std::string_view text) { note.text = std::string(text); }
};

struct NoteErasePart {
    static void erase_part(Note& note, std::size_t) { note.text.clear(); }
};

struct NoteMake {
    static Note make(whittle::Role role, std::string_view text) { return {role, std::string(text)}; }
};

template <whittle::AgentMessage M>
void use_as_message() {}

template <whittle::ToolMessage M>
void use_with_tools() {}
