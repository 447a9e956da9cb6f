#pragma once

#include "catch.hpp"
#include "whittle/model/model.hpp"

#include <stdexcept>

namespace whittle::testing {

/// The ModelError that `call` throws; the test fails if it throws none: a reply would be half a message.
template <typename Call>
ModelError failure_of(Call&& call) {
    try {
        (void)call();
    } catch (const ModelError& error) {
        return error;
    }
    FAIL("nothing was thrown");
    throw std::logic_error("not reached");
}

}  // namespace whittle::testing
