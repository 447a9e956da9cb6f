// What most tests include, precompiled by tests/CMakeLists.txt.
#pragma once

#include "../../cmake/precompiled/json.hpp"
#include "catch.hpp"
