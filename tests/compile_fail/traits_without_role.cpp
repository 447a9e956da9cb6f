// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasRole[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteForEachPart, NoteSetText, NoteErasePart, NoteMake {};

void host() { use_as_message<Note>(); }
