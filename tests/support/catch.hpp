// Catch2, version 2 or 3, whichever the machine has. Tests include this and nothing else of Catch2.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#    include <catch2/catch_all.hpp>
#else
#    include <catch2/catch.hpp>
#endif

/// Ends the test case as skipped, with a reason. Catch2 2 knows no skipping: there it warns and returns, so use it in
/// the body of a test case or of a function that returns void.
#if defined(SKIP)
#    define SKIP_WITH_MESSAGE(text) SKIP(text)
#else
#    define SKIP_WITH_MESSAGE(text)    \
        do {                           \
            WARN("skipped: " << text); \
            return;                    \
        } while (false)
#endif
