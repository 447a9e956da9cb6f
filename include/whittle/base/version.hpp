#pragma once

#include "whittle/base/platform.hpp"

/// The library's version.

#define WHITTLE_VERSION_MAJOR 0
#define WHITTLE_VERSION_MINOR 1
#define WHITTLE_VERSION_PATCH 0
#define WHITTLE_VERSION_STRING "0.1.0"
