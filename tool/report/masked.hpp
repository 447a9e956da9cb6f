#pragma once

#include "whittle/message/traits.hpp"

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace whittle::cli {

/// `text` without what looks like a secret, by the library's rules (extensions/redaction/README.md), as what it is: a
/// text, JSON, or lines of it. The first four characters stay, but no more than a quarter. Mask first and cut then:
/// half a secret is not found.
[[nodiscard]] std::string masked(std::string_view text);

/// JSON text, which stays JSON.
[[nodiscard]] std::string masked_json(std::string_view json);

/// `--no-mask` was given: from now on the tool prints what looks like a secret as it is.
void show_secrets() noexcept;
[[nodiscard]] bool are_secrets_shown() noexcept;
/// What the tool prints, wherever it does: masked, unless secrets are shown.
[[nodiscard]] std::string printed(std::string_view text);
[[nodiscard]] std::string printed_json(std::string_view json);

/// Masks texts that may have been cut, by a chain, out of texts that are known as a whole.
class KnownSecrets {
public:
    /// If not `is_masked` nothing is masked.
    explicit KnownSecrets(bool is_masked) : is_masked_(is_masked) {}

    /// Takes the secrets of `whole`.
    void learn(std::string_view whole);
    template <AgentMessage M>
    void learn_all(std::span<const M> messages) {
        for (const M& m : messages)
            message_traits<M>::for_each_part(m, [&](const PartView& part) { learn(part.text); });
    }

    /// `text` without secrets and without ends of those that are known, and beginnings of those that look as if a
    /// program had made them.
    [[nodiscard]] std::string hidden(std::string_view text) const;

private:
    struct Known {
        std::string text{};
        bool has_known_prefix = false;  ///< what begins so is a piece of it
    };

    bool is_masked_;
    std::vector<Known> secrets_{};
    std::unordered_set<std::string> known_{};
};

}  // namespace whittle::cli
