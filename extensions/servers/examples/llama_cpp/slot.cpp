#include "slot.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace llama_cpp {

namespace {

constexpr llama_seq_id sequence = 0;

}  // namespace

Slot::Slot(std::shared_ptr<const Weights> weights, const SlotOptions& options) : weights_(std::move(weights)) {
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = static_cast<std::uint32_t>(options.window);
    parameters.n_batch = static_cast<std::uint32_t>(options.batch);
    parameters.n_ubatch = static_cast<std::uint32_t>(options.batch);
    parameters.n_threads = options.threads;
    parameters.n_threads_batch = options.threads;
    parameters.no_perf = false;  // its clock is what replies report
    context_.reset(llama_init_from_model(weights_->model(), parameters));
    if (!context_) throw std::runtime_error("make a context: llama.cpp has none");
}

Prefill Slot::read(std::span<const llama_token> prompt) {
    const auto differs = std::ranges::mismatch(kept_, prompt).in2;
    std::size_t same = std::min(static_cast<std::size_t>(differs - prompt.begin()), prompt.size() - 1);
    llama_memory_t memory = llama_get_memory(context_.get());
    if (!llama_memory_seq_rm(memory, sequence, static_cast<llama_pos>(same), -1)) {  // a state that cannot go back
        clear();
        same = 0;
    }
    kept_.resize(same);
    Prefill done{.kept = same, .read = prompt.size() - same, .cells_before = cells()};
    Tokens rest(prompt.begin() + static_cast<std::ptrdiff_t>(same), prompt.end());
    for (std::span<llama_token> left(rest); !left.empty();) {
        const std::span<llama_token> piece =
            left.first(std::min<std::size_t>(left.size(), llama_n_batch(context_.get())));
        llama_perf_context_reset(context_.get());
        decode(piece);
        const llama_perf_context_data timing = llama_perf_context(context_.get());
        // A piece of one token counts as one of a reply; a counter of 0 is told as 1.
        done.evaluated += static_cast<std::size_t>(piece.size() == 1 ? timing.n_eval : timing.n_p_eval);
        done.ms += timing.t_p_eval_ms + timing.t_eval_ms;
        left = left.subspan(piece.size());
    }
    done.cells_after = cells();
    return done;
}

void Slot::add(llama_token token) { decode({&token, 1}); }

void Slot::clear() {
    llama_memory_clear(llama_get_memory(context_.get()), false);
    kept_.clear();
}

void Slot::decode(std::span<llama_token> tokens) {
    if (llama_decode(context_.get(), llama_batch_get_one(tokens.data(), static_cast<std::int32_t>(tokens.size()))) !=
        0) {
        clear();
        throw std::runtime_error("read tokens: llama.cpp failed");
    }
    llama_synchronize(context_.get());
    kept_.insert(kept_.end(), tokens.begin(), tokens.end());
}

std::size_t Slot::cells() const noexcept {
    return static_cast<std::size_t>(llama_memory_seq_pos_max(llama_get_memory(context_.get()), sequence) + 1);
}

}  // namespace llama_cpp
