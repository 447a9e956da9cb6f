// expect: (satisfaction of|not satisfy)[^A-Za-z]+HasRole[^A-Za-z]
#include "note.hpp"

void host() { use_as_message<Note>(); }
