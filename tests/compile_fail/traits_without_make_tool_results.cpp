// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasMakeToolResults[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteRole, NoteForEachPart, NoteSetText, NoteErasePart, NoteMake {};

void host() {
    use_as_message<Note>();  // complete without tools
    use_with_tools<Note>();
}
