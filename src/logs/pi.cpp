#include "readers.hpp"
#include "records.hpp"

namespace whittle::inline v0::logs {

void read_pi(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession) {
    Records records(in, options, notes);
    while (records.next()) ++notes.unknown["record"];
}

}  // namespace whittle::inline v0::logs
