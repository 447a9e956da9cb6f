// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasMake[^A-Za-z]
#include "note.hpp"

template <>
struct whittle::message_traits<Note> : NoteRole, NoteForEachPart, NoteSetText, NoteErasePart {};

void host() { use_as_message<Note>(); }
