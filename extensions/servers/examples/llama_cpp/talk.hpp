// A talk that does not fit its window, with a model in the process.
#pragma once

#include "llama_model.hpp"

#include <whittle/loop/agent_loop.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace llama_cpp {

/// Who keeps the talk within the window.
enum class Keeper {
    nobody,
    cutter,   ///< leaves out the oldest rounds of a request that is too large, as some servers do
    whittle,  ///< the preset `local`
};

/// One answered call of the model.
struct Step {
    int question = 0;
    Call call{};
    std::size_t predicted = 0;  ///< tokens to read, by `whittle::ServerSlot`
};

struct Talk {
    std::vector<Step> steps{};
    int answered = 0;                ///< questions
    int refused = 0;                 ///< requests
    std::string failure{};           ///< of the first question that was not answered
    bool is_restored = false;        ///< undoing everything gave each note back, byte for byte
    std::size_t violations = 0;      ///< of the rules of providers, in the list at the end
    whittle::CacheProfile learnt{};  ///< by `whittle::CacheProfileEstimator`
};

/// Asks for notes, one after the other, until one cannot be answered.
[[nodiscard]] Talk talk_about_notes(const std::shared_ptr<const Weights>& weights, const SlotOptions& options,
                                    int questions, Keeper keeper);

}  // namespace llama_cpp
