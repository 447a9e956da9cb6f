#include "readers.hpp"
#include "records.hpp"

namespace whittle::inline v0::logs {

void read_qwen_code(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession) {
    Records records(in, options, notes);
    while (records.next()) ++notes.unknown["record"];
}

}  // namespace whittle::inline v0::logs
