// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasMake[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteRole, NoteForEachPart, NoteSetText, NoteErasePart {
    static std::string make(whittle::Role, std::string_view text) { return std::string(text); }
};

static_assert(whittle::AgentMessage<Note>);
