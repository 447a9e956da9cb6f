#pragma once

#include "whittle/base/version.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace whittle::inline v0 {

/// What a note can hold.
using NoteValue = std::variant<std::int64_t, double, std::string>;

/// How long a note lives.
enum class NoteScope { conversation, run };

/// A value that a middleware keeps with the conversation.
struct Note {
    NoteValue value{};                          ///< what was set last
    NoteScope scope = NoteScope::conversation;  ///< how long it is kept

    friend bool operator==(const Note&, const Note&) = default;
};

/// Small saved memory of the middlewares of one conversation. A value: copies share until one is written to.
class NoteBook {
public:
    using Key = std::pair<std::string, std::string>;  ///< middleware, name
    /// Owner and name, to look up without copies.
    using KeyView = std::pair<std::string_view, std::string_view>;
    /// The order of keys.
    struct Less {
        using is_transparent = void;
        template <typename A, typename B>
        bool operator()(const A& a, const B& b) const noexcept {
            return KeyView(a) < KeyView(b);
        }
    };
    /// By owner and name.
    using Map = std::map<Key, Note, Less>;

    /// Null: there is none. Valid until the book changes.
    [[nodiscard]] const Note* find(std::string_view owner, std::string_view name) const;
    /// Replaces one of that name.
    void set(std::string_view owner, std::string_view name, Note note);
    /// Does nothing where there is none.
    void erase(std::string_view owner, std::string_view name);
    /// Forgets those that are kept for a run.
    void end_run();
    /// For saving.
    [[nodiscard]] const Map& all() const noexcept;

private:
    std::shared_ptr<const Map> map_{};
};

/// The notes of one middleware; a view of its conversation's.
class Notes {
public:
    /// Those of `owner` in `book`. Both are borrowed.
    Notes(NoteBook& book, std::string_view owner) noexcept : book_(book), owner_(owner) {}

    /// Absent, or of another type: nullopt.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
    /// Absent: there is none, or it holds something else.
    [[nodiscard]] std::optional<double> real(std::string_view name) const;
    /// Absent: there is none, or it holds something else. Valid until any note of the conversation changes.
    [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;

    /// Replaces one of that name.
    void set(std::string_view name, NoteValue value, NoteScope scope = NoteScope::conversation);
    /// Does nothing where there is none.
    void erase(std::string_view name);

private:
    NoteBook& book_;
    std::string_view owner_;
};

}  // namespace whittle::inline v0
