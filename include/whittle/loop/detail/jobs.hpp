#pragma once

#include "whittle/base/detail/function_ref.hpp"

#include <cstddef>

namespace whittle::inline v0::detail {

/// What `run_jobs` calls for a job, by its number. `start` and `ended` are called on the caller's thread, never at the
/// same time as each other; `work` on any thread, and it does not throw.
struct Jobs {
    FunctionRef<bool(std::size_t)> start;  ///< false: this job and those behind it are not run
    FunctionRef<void(std::size_t)> work;
    FunctionRef<void(std::size_t)> ended;
};

/// Runs the jobs 0 to `count` - 1, at most `threads` at the same time, and starts them in order. With one thread, or
/// one job, everything happens on the caller's thread; else on threads that are joined before it returns. If a thread
/// cannot be had, fewer do. What `start` or `ended` throws keeps further jobs from starting, and the first of it is
/// thrown once all that run have ended.
void run_jobs(std::size_t count, std::size_t threads, const Jobs& jobs);

}  // namespace whittle::inline v0::detail
