// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasForEachPart[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteRole, NoteSetText, NoteErasePart, NoteMake {};

void host() { use_as_message<Note>(); }
