// A context of llama.cpp that keeps what it has read: the next prompt is read from its first changed token on.
#pragma once

#include "weights.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace llama_cpp {

struct SlotOptions {
    int window = 2'048;  ///< tokens of a prompt with its reply
    int threads = 2;
    int batch = 512;  ///< tokens that are read at once
};

/// What reading a prompt came to. The first two are what was planned, the others what llama.cpp says it did.
struct Prefill {
    std::size_t kept = 0;          ///< tokens at the front that stayed in the KV cache
    std::size_t read = 0;          ///< tokens that were read
    std::size_t cells_before = 0;  ///< positions that the cache had once it was cut
    std::size_t cells_after = 0;   ///< and once all was read
    std::size_t evaluated = 0;     ///< tokens by llama.cpp's own counters
    double ms = 0.0;               ///< by the same
};

/// One conversation's KV cache. Used by one thread at a time.
class Slot {
public:
    /// Keeps `weights`. Throws std::runtime_error if llama.cpp cannot make a context.
    Slot(std::shared_ptr<const Weights> weights, const SlotOptions& options);

    [[nodiscard]] std::size_t window() const noexcept { return llama_n_ctx(context_.get()); }
    [[nodiscard]] llama_context* context() const noexcept { return context_.get(); }
    /// The tokens whose keys and values are in the cache.
    [[nodiscard]] std::span<const llama_token> kept() const noexcept { return kept_; }

    /// Cuts the cache at the first token that differs, and reads the rest of `prompt`, which is not empty. The last
    /// token is read always: a reply starts from it. Throws std::runtime_error if llama.cpp fails; the cache is empty
    /// then.
    Prefill read(std::span<const llama_token> prompt);
    /// Reads one token of a reply.
    void add(llama_token token);
    void clear();

private:
    void decode(std::span<llama_token> tokens);
    /// Positions in the cache.
    [[nodiscard]] std::size_t cells() const noexcept;

    struct Free {
        void operator()(llama_context* context) const noexcept { llama_free(context); }
    };

    std::shared_ptr<const Weights> weights_;
    std::unique_ptr<llama_context, Free> context_;
    Tokens kept_{};
};

}  // namespace llama_cpp
