// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasErasePart[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteRole, NoteForEachPart, NoteSetText, NoteMake {};

void host() { use_as_message<Note>(); }
