// The main function of every test executable. A test case that ends with SKIP_WITH_MESSAGE counts as skipped with
// either Catch2. With the environment variable WHITTLE_COUNTS set, what ran is counted in that file, for scripts/test
// and the test `counts`.
#if __has_include(<catch2/catch_session.hpp>)
#    include <catch2/catch_session.hpp>
#    include <catch2/catch_test_case_info.hpp>
#    include <catch2/reporters/catch_reporter_event_listener.hpp>
#    include <catch2/reporters/catch_reporter_registrars.hpp>
using Listener = Catch::EventListenerBase;
#else
#    define CATCH_CONFIG_RUNNER
#    include <catch2/catch.hpp>
using Listener = Catch::TestEventListenerBase;
#endif

#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Counts {
    std::uint64_t passed = 0;
    std::uint64_t failed = 0;
    std::uint64_t skipped = 0;
    std::uint64_t assertions = 0;
    std::vector<std::string> reasons{};  ///< "test case: reason" of each that was skipped
};

Counts counts;
std::string reason_of_this_case;

// Catch2 3 has a pointer where Catch2 2 has the value.
std::string name_of(const Catch::TestCaseInfo& test) { return test.name; }
std::string name_of(const Catch::TestCaseInfo* test) { return test->name; }

class Counter : public Listener {
public:
    using Listener::Listener;

    void testCaseStarting(const Catch::TestCaseInfo&) override { reason_of_this_case.clear(); }

    void testCaseEnded(const Catch::TestCaseStats& ended) override {
        counts.assertions += ended.totals.assertions.passed + ended.totals.assertions.failed;
        if (ended.totals.assertions.failed > 0 || ended.totals.testCases.failed > 0) {
            ++counts.failed;
        } else if (!reason_of_this_case.empty()) {
            ++counts.skipped;
            counts.reasons.push_back(name_of(ended.testInfo) + ": " + reason_of_this_case);
        } else {
            ++counts.passed;
        }
    }
};

CATCH_REGISTER_LISTENER(Counter)

void write_counts(const char* path) {
    std::ofstream file(path);
    file << "passed " << counts.passed << "\nfailed " << counts.failed << "\nskipped " << counts.skipped
         << "\nassertions " << counts.assertions << '\n';
    for (const std::string& reason : counts.reasons) file << "reason " << reason << '\n';
}

}  // namespace

namespace whittle::testing {

void note_skipped(std::string reason) { reason_of_this_case = std::move(reason); }

}  // namespace whittle::testing

int main(int argc, char* argv[]) {
    ::umask(022);  // a file storage refuses a root that its group can write
    const int status = Catch::Session().run(argc, argv);
    for (const std::string& reason : counts.reasons) std::cout << "skipped: " << reason << '\n';
    if (const char* path = std::getenv("WHITTLE_COUNTS")) write_counts(path);
    constexpr int all_skipped = 4;  // as Catch2 3 has it
    if (status != 0) return 1;      // Catch2's is the number of failures, which may be four as well
    return counts.skipped > 0 && counts.passed == 0 ? all_skipped : 0;
}
