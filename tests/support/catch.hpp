// Catch2, version 2 or 3, whichever the machine has. Tests include this and nothing else of Catch2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#    include <catch2/catch_all.hpp>
#else
#    include <catch2/catch.hpp>
#endif

#include <string>

namespace whittle::testing {

/// Has the test case that runs count as skipped unless it fails (main.cpp). Use SKIP_WITH_MESSAGE.
void note_skipped(std::string reason);

}  // namespace whittle::testing

/// Ends the test case as skipped, with a reason (text or a string). Catch2 2 knows no skipping: there it returns, so
/// use it in the body of a test case or of a function that returns void.
#if defined(SKIP)
#    define SKIP_WITH_MESSAGE(text)               \
        do {                                      \
            whittle::testing::note_skipped(text); \
            SKIP(text);                           \
        } while (false)
#else
#    define SKIP_WITH_MESSAGE(text)               \
        do {                                      \
            whittle::testing::note_skipped(text); \
            return;                               \
        } while (false)
#endif
