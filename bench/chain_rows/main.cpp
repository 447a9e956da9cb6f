// Our side of bench/chain.py: a row as a line of JSON. The peers in bench/peers do the same work.
//
//   undue N                    a history of N messages, one more call with a result of 2,500 bytes, and a hook run with
//                              nothing due
//   undue_exact N VOCABULARY   the same with log lines and the exact counter; beside it the counting of as much text
//   clear N                    clearing all results but the newest three in a history of N messages
//   session N                  N calls, each with a hook run, nothing due
//   preset N                   N calls of a session with the preset `recommended` and a window of 200,000 tokens
//   summary N                  folding a history of N messages into a summary that a model gives at once
//   sync N                     a host's own list of N stamped messages with one more call, taken over, and a hook run
//   cut N                      a tool result of N bytes cut to 2,000 on arrival, the whole of it stored
//   memory N                   the heap that a conversation of N messages takes beside their texts
#include "../allocations.hpp"
#include "row.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

long whittle::bench::allocations_so_far() { return allocations; }

namespace {

using whittle::bench::Row;

Row run(std::string_view row, std::size_t n, const std::string& vocabulary) {
    namespace bench = whittle::bench;
    if (row == "undue") return bench::undue(n);
    if (row == "undue_exact") return bench::undue_exact(n, vocabulary);
    if (row == "clear") return bench::clear(n);
    if (row == "session") return bench::session(n);
    if (row == "preset") return bench::preset(n);
    if (row == "summary") return bench::summary(n);
    if (row == "sync") return bench::sync(n);
    if (row == "cut") return bench::cut(n);
    if (row == "memory") return bench::memory(n);
    std::fprintf(stderr, "bench_chain_rows: no row \"%.*s\"\n", static_cast<int>(row.size()), row.data());
    std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: bench_chain_rows ROW N [VOCABULARY.whittle]\n");
        return 2;
    }
    const Row row = run(argv[1], std::stoul(argv[2]), argc > 3 ? argv[3] : "");
    std::printf(R"({"row": "%s", "n": %s, "seconds": %.9f, "allocations": %ld, "check": %lld)", argv[1], argv[2],
                row.seconds, row.allocations, static_cast<long long>(row.check));
    for (const auto& [name, value] : row.more) std::printf(R"(, "%s": %.9g)", name, value);
    std::printf("}\n");
    return 0;
}
