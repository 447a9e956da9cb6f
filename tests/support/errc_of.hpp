#pragma once

#include "catch.hpp"
#include "whittle/base/error.hpp"

namespace whittle::testing {

/// The code of the Error that `action` throws; the test fails if it throws none.
template <typename Action>
Errc errc_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.errc();
    }
    FAIL("nothing was thrown");
    return {};
}

}  // namespace whittle::testing
