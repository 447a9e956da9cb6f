#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// The names (paths, URLs, code names, hashes, long numbers) in what a model was shown, to judge its reply by. Holds
/// hashes of names and words, not the text. Linear in the text; the first question sorts.
class ShownNames {
public:
    ShownNames() = default;
    /// `fill` adds everything, each time the same. It is called at the first question, if there is one.
    explicit ShownNames(std::function<void(ShownNames&)> fill) noexcept : fill_(std::move(fill)) {}

    /// Of the conversation.
    void add(std::string_view text);
    /// Of instructions and tools: a reply that says these names nothing of the conversation, and invents nothing.
    void add_other(std::string_view text);

    /// Of the conversation, and not to be read here, such as an image: nothing that a reply names is an invention then.
    void add_unread() noexcept { has_unread_ = true; }

    /// How many different names the conversation has: not bare numbers, and those that differ in their numbers only
    /// once.
    [[nodiscard]] std::size_t size();

    /// What a text says: different names, bare numbers counted only where they are long and stand in the conversation.
    struct Said {
        std::size_t names = 0;
        std::size_t known = 0;        ///< that stand in the conversation, each piece of a path for itself
        std::size_t known_paths = 0;  ///< of the known ones, without URLs
        std::size_t telling = 0;      ///< known ones that are no names of errors and limits
        std::size_t invented = 0;     ///< that stand nowhere
    };
    [[nodiscard]] Said said_in(std::string_view text);

    /// Numbers of different long words in any language, by their beginnings, without those of instructions.
    struct SharedWords {
        std::size_t shown = 0;   ///< in the conversation; 0 where it has what is not to be read
        std::size_t said = 0;    ///< in a text
        std::size_t shared = 0;  ///< in both
    };
    /// Reads everything again that `fill` adds; without one, nothing is known of the conversation.
    [[nodiscard]] SharedWords words_shared_by(std::string_view text, std::span<const std::string_view> frames);

private:
    using Hashes = std::vector<std::uint64_t>;

    static void sort(Hashes& hashes);
    void sort_all();

    std::function<void(ShownNames&)> fill_{};
    Hashes names_{};
    Hashes words_{};        ///< what names are made of
    Hashes other_words_{};  ///< those of instructions
    Hashes stems_{};        ///< beginnings of the conversation's words, while these are compared
    Hashes other_stems_{};  ///< of those of instructions
    bool is_filled_ = false;
    bool reads_stems_ = false;
    bool is_sorted_ = true;
    bool has_unread_ = false;
};

}  // namespace whittle::inline v0
