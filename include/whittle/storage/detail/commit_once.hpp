#pragma once

#include "whittle/base/error.hpp"

#include <utility>

namespace whittle::inline v0 {

/// A writer's `commit`: after `publish`, and after whatever it throws, the writer is used up, but for
/// Error(already_exists): then it may be committed under another key.
template <typename Publish, typename UseUp>
void commit_once(Publish&& publish, UseUp&& use_up) {
    try {
        std::forward<Publish>(publish)();
    } catch (const Error& error) {
        if (error.errc() != Errc::already_exists) use_up();
        throw;
    } catch (...) {
        use_up();
        throw;
    }
    use_up();
}

}  // namespace whittle::inline v0
