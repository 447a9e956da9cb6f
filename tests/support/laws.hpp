// The promises L1 to L9 and L11 as functions of any middleware: each drives generated histories through a chain as an
// agent loop would, and lists what broke. One line adds a middleware, for every law and every message type:
//
//     WHITTLE_LAWS("clearing", [](auto type) { return Reduction<typename decltype(type)::type>{{...}}; })
#pragma once

#include "catch.hpp"
#include "laws_checks.hpp"
#include "soak.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::testing {

template <typename T>
using MessageOf = typename T::type;

template <AgentMessage M>
struct Law {
    std::string_view id;
    Failures (*check)(const Subject<M>&, const History&);
    HistoryOptions history{};
    std::size_t histories = 0;
};

template <AgentMessage M>
[[nodiscard]] const std::array<Law<M>, 10>& all_laws() {
    static const std::array<Law<M>, 10> laws{{{"L1", check_valid_out<M>, {}, 8},
                                              {"L2", check_store_first<M>, {}, 6},
                                              {"L3", check_nothing_lost<M>, {}, 10},
                                              {"L4", check_untouched<M>, {}, 8},
                                              {"L5", check_idempotent<M>, {}, 8},
                                              {"L6", check_never_larger<M>, {}, 6},
                                              {"L7", check_pinned<M>, {}, 8},
                                              {"L8", check_deterministic<M>, {}, 4},
                                              {"L9", check_failure_leaves_input<M>, {.turns = 2}, 1},
                                              {"L11", check_text_stays_data<M>, {.forged = true}, 4}}};
    return laws;
}

/// Tries one law on its share of generated histories, valid and broken ones; without a soak on every third of them.
template <AgentMessage M>
[[nodiscard]] Failures check_law(const Law<M>& law, const Subject<M>& subject) {
    Failures failures;
    for (std::size_t i = 0; i < 2 * law.histories && failures.size() < 3; i += every(3)) {
        HistoryOptions options = law.history;
        options.broken = i % 2 == 1 && !options.forged;
        options.reminders = i % 4 >= 2;
        const std::uint64_t seed = 1'000 + i;
        for (std::string& failure : law.check(subject, generate_history(seed, options))) {
            failures.push_back(std::string(law.id) + ", history " + std::to_string(seed) +
                               (options.broken ? " (broken)" : "") + (options.reminders ? " (reminders)" : "") + ": " +
                               std::move(failure));
        }
    }
    return failures;
}

/// The law with that id; throws for an id that is none.
template <AgentMessage M>
[[nodiscard]] const Law<M>& law(std::string_view id) {
    const auto found = std::ranges::find(all_laws<M>(), id, &Law<M>::id);
    if (found == all_laws<M>().end()) throw std::out_of_range("no such law");
    return *found;
}

template <AgentMessage M>
[[nodiscard]] Stages<M> to_stages(Stages<M> stages) {
    return stages;
}
template <AgentMessage M, std::derived_from<Middleware<M>> S>
[[nodiscard]] Stages<M> to_stages(S stage) {
    return {std::make_shared<S>(std::move(stage))};
}

template <AgentMessage M, typename Make>
[[nodiscard]] Subject<M> subject_of(Make make, LawOptions options = {}) {
    return {[make] { return to_stages<M>(make(Type<M>{})); }, std::move(options)};
}

/// Every law on every message type.
template <typename Make>
void run_laws(Make make, const LawOptions& options = {}) {
    for_each_message_type([&](auto type) {
        using M = typename decltype(type)::type;
        const Subject<M> subject = subject_of<M>(make, options);
        for (const Law<M>& law : all_laws<M>()) {
            INFO(Builder<M>::name << ", " << law.id);
            const Failures failures = check_law(law, subject);
            CHECK(failures == Failures{});
        }
    });
}

}  // namespace whittle::testing

/// A test case that holds a middleware to every law on every message type. After the name: a generic callable that
/// makes the middleware (or a list of shared ones) for a `Type<M>`; then, optionally, `LawOptions`.
#define WHITTLE_LAWS(name, ...) \
    TEST_CASE(name " keeps every law on every message type", "[laws]") { whittle::testing::run_laws(__VA_ARGS__); }
