// What the executable of this folder can print, each part in its own file.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace whittle::sdk_types {

/// Messages as TypeScript, for `tsc` and the providers' own type files to judge. `files`: recorded sessions of OpenAI
/// messages. Two programs, divided by a line "// ----".
void print_messages(std::ostream& out, const std::vector<std::string>& files);

/// Bodies of requests as TypeScript; each sort of member once more with a value of the wrong type, which `tsc` must
/// refuse.
void print_bodies(std::ostream& out);

/// Replies as our serialisers write them, with what is meant by them, as one JSON array.
void print_mirror(std::ostream& out);

}  // namespace whittle::sdk_types
