#pragma once

// A summary that a model writes: `generate_summary`, declared in task.hpp.

#include "whittle/summary/task.hpp"

#include "whittle/summary/detail/summary_generation.hpp"
