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

using NoteValue = std::variant<std::int64_t, double, std::string>;

/// How long a note lives.
enum class NoteScope { conversation, run };

struct Note {
    NoteValue value{};
    NoteScope scope = NoteScope::conversation;

    friend bool operator==(const Note&, const Note&) = default;
};

/// Small saved memory of the middlewares of one conversation. A value: copies share until one is written to.
class NoteBook {
public:
    using Key = std::pair<std::string, std::string>;  ///< middleware, name
    using KeyView = std::pair<std::string_view, std::string_view>;
    struct Less {
        using is_transparent = void;
        template <typename A, typename B>
        bool operator()(const A& a, const B& b) const noexcept {
            return KeyView(a) < KeyView(b);
        }
    };
    using Map = std::map<Key, Note, Less>;

    [[nodiscard]] const Note* find(std::string_view owner, std::string_view name) const;
    void set(std::string_view owner, std::string_view name, Note note);
    void erase(std::string_view owner, std::string_view name);
    void end_run();
    [[nodiscard]] const Map& all() const noexcept;

private:
    std::shared_ptr<const Map> map_{};
};

/// The notes of one middleware; a view of its conversation's.
class Notes {
public:
    Notes(NoteBook& book, std::string_view owner) noexcept : book_(book), owner_(owner) {}

    /// Absent, or of another type: nullopt.
    [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
    [[nodiscard]] std::optional<double> real(std::string_view name) const;
    [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;

    void set(std::string_view name, NoteValue value, NoteScope scope = NoteScope::conversation);
    void erase(std::string_view name);

private:
    NoteBook& book_;
    std::string_view owner_;
};

}  // namespace whittle::inline v0
