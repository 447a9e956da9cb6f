// Every law on a host's message type: middlewares of each kind, one line a host.
#pragma once

#include "support/laws.hpp"
#include "support/laws_random_editor.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"

#include <memory>

namespace whittle::testing {

template <AgentMessage M, typename Make>
void run_laws_on(Make make, const LawOptions& options = {}) {
    const Subject<M> subject = subject_of<M>(make, options);
    for (const Law<M>& law : all_laws<M>()) {
        INFO(law.id);
        CHECK(check_law(law, subject) == Failures{});
    }
}

/// What edits results, arguments, texts and whole rounds; each with the options that the laws' own tests give it.
template <AgentMessage M>
void run_host_laws() {
    const ReductionConfig clearing{.skip_truncation = true, .max_tokens_for_clear = 200};
    ReductionConfig everything{.max_length_for_trunc = 400, .max_tokens_for_clear = 200};
    everything.clear_tool_inputs = true;
    run_laws_on<M>([=](auto) { return Reduction<M>{clearing}; });
    run_laws_on<M>([=](auto) { return Reduction<M>{everything}; }, {.looks_at_sizes_only = false});
    run_laws_on<M>([](auto) { return Pruning<M>{{.skip_boundary_turns = 1}}; }, {.looks_at_sizes_only = false});
    run_laws_on<M>([](auto) { return RandomEditor<M>{1}; }, {.keeps_protected_tools = false});
    run_laws_on<M>(
        [=](auto) {
            return Stages<M>{std::make_shared<Reduction<M>>(everything), std::make_shared<RandomEditor<M>>(5)};
        },
        {.keeps_protected_tools = false, .looks_at_sizes_only = false});
}

}  // namespace whittle::testing
