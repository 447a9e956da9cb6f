#pragma once

#include "evaluation/evaluation.hpp"
#include "interrupt.hpp"

#include <cstddef>
#include <vector>

namespace whittle::cli {

/// What the requests of a chain, by call, came to.
[[nodiscard]] inline evaluation::Figures figures_of(const std::vector<evaluation::Request>& requests,
                                                    const evaluation::Session& session,
                                                    const evaluation::RunOptions& options) {
    evaluation::Run run(session, options);
    for (std::size_t call = 0; call < requests.size(); ++call) {
        throw_if_interrupted();
        run.send(call, requests[call]);
    }
    return run.finish();
}

}  // namespace whittle::cli
