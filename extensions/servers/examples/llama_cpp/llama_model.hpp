// llama.cpp as a `whittle::Model`, in the process.
#pragma once

#include "slot.hpp"
#include "whittle/base/platform.hpp"

#include <whittle/chain/config.hpp>
#include <whittle/model/model.hpp>

#include <functional>
#include <memory>

namespace llama_cpp {

/// One reply, as it was made.
struct Call {
    Tokens prompt{};
    Tokens reply{};  ///< with the token that ended it, which is written and not read
    Prefill prefill{};
    std::int64_t output_tokens = 0;
    double output_ms = 0.0;
};

/// Greedy replies of at most `max_output_tokens`. A prompt that leaves no room for them is refused before a token of it
/// is read, as an overflow with both numbers. `GenerateOptions::extra` is a JSON schema that the reply must fit. A
/// listener gets the text whole, at the end. Used by one thread at a time: it has one slot.
class LlamaModel final : public whittle::Model<whittle::ChatMessage> {
public:
    LlamaModel(std::shared_ptr<const Weights> weights, const SlotOptions& options, std::int64_t max_output_tokens);

    whittle::Reply<whittle::ChatMessage> generate(const whittle::ModelRequest<whittle::ChatMessage>& request) override;

    /// What a chain is told of this model: nothing of it is configured.
    [[nodiscard]] whittle::ModelProfile profile() const;
    /// Called with each reply.
    std::function<void(const Call&)> on_call{};

private:
    /// The text of the reply, whose tokens and times go into `call`.
    std::string write(const Prompt& prompt, std::size_t most, whittle::StopToken stop, Call& call, bool& is_cut);

    std::shared_ptr<const Weights> weights_;
    Slot slot_;
    std::int64_t max_output_tokens_;
};

}  // namespace llama_cpp
