// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasSetText[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteRole, NoteForEachPart, NoteErasePart, NoteMake {};

void host() { use_as_message<Note>(); }
