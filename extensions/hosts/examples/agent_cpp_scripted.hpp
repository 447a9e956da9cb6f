// What stands in for llama.cpp below agent.cpp: its agent is its own, only `Model` has no weights.
#pragma once

#include "model.h"

#include <cstddef>
#include <memory>

namespace scripted {

/// A context of so many tokens, and what became of it. One for the program.
struct Context {
    std::size_t window = 0;
    std::size_t largest = 0;  ///< tokens of a prompt that fitted
    int answered = 0;
    int refused = 0;
};
Context& context();

/// A model that reads logs (scripted_reader.hpp).
std::shared_ptr<agent_cpp::Model> model();

}  // namespace scripted
