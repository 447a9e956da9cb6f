#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::detail {

/// A line that says something by itself, by what it says; 0: it says too little.
using LineId = std::uint32_t;

/// Which lines a conversation has had, when each came up last, and how often it stands in what is sent now; and which
/// words its users and its model have written. Times are numbers of model calls. Never keeps a text.
class LineIndex {
public:
    static constexpr int never = -1;

    /// The number of a normalised line, a new one if it has none.
    [[nodiscard]] LineId id_of(std::string_view normal) {
        if (normal.size() < shortest_telling_line) return 0;
        const Hash128 print = hash128(normal);
        if (const auto found = ids_.find(print); found != ids_.end()) return found->second;
        const auto id = static_cast<LineId>(lines_.size());
        lines_.emplace_back();  // first: without its number it harms nothing
        ids_.emplace(print, id);
        return id;
    }
    /// The number of a line that came up before, else 0.
    [[nodiscard]] LineId find(std::string_view normal) const noexcept {
        if (normal.size() < shortest_telling_line) return 0;
        const auto found = ids_.find(hash128(normal));
        return found == ids_.end() ? 0 : found->second;
    }

    void touch(LineId line, int call) noexcept { raise(line, &Line::touched, call); }
    /// An edit took the line out.
    void kill(LineId line, int call) noexcept { raise(line, &Line::died, call); }
    /// A result of that call has the line; one that is looked at again counts once.
    void note_result(LineId line, int call) noexcept {
        if (raise(line, &Line::in_result, call)) ++lines_[line].results;
    }
    /// Stands in what is sent, in a result of that call or, with `never`, elsewhere.
    void show(LineId line, int call) noexcept {
        raise(line, &Line::in_sent_result, call);
        lines_[line].shown += line != 0 ? 1 : 0;
    }
    void hide(LineId line, int call) noexcept {
        if (line == 0) return;
        --lines_[line].shown;
        if (call != never && call == lines_[line].in_sent_result) lines_[line].in_sent_result = never;
    }

    [[nodiscard]] int touched(LineId line) const noexcept { return lines_[line].touched; }
    [[nodiscard]] int died(LineId line) const noexcept { return lines_[line].died; }
    /// The call of the newest result that has the line and is sent; `never`, also where that one has just gone and an
    /// older one stays.
    [[nodiscard]] int in_sent_result(LineId line) const noexcept { return lines_[line].in_sent_result; }
    /// After how many model calls results had the line.
    [[nodiscard]] int results(LineId line) const noexcept { return lines_[line].results; }
    [[nodiscard]] std::int64_t shown(LineId line) const noexcept { return lines_[line].shown; }

    /// Notes the words of a text.
    void use_words(std::string_view text, int call) {
        for_each_ident(text, [&](std::string_view word) {
            int& last = words_.try_emplace(word_hash(word), call).first->second;
            last = std::max(last, call);
        });
    }
    [[nodiscard]] static std::uint64_t word_hash(std::string_view word) noexcept { return hash128(word).low; }
    /// The last call at which a word was used; `never`.
    [[nodiscard]] int used(std::uint64_t word) const noexcept {
        const auto found = words_.find(word);
        return found == words_.end() ? never : found->second;
    }

private:
    struct Line {
        int touched = never;
        int died = never;
        int in_result = never;
        int in_sent_result = never;
        int results = 0;
        std::int64_t shown = 0;
    };
    struct PrintHash {
        std::size_t operator()(const Hash128& print) const noexcept { return static_cast<std::size_t>(print.low); }
    };

    /// Whether `call` is later than that time of the line, which becomes it then.
    bool raise(LineId line, int Line::*time, int call) noexcept {
        const bool is_later = line != 0 && call > lines_[line].*time;
        if (is_later) lines_[line].*time = call;
        return is_later;
    }

    std::unordered_map<Hash128, LineId, PrintHash> ids_{};
    std::vector<Line> lines_{Line{}};  // the first stands for all that say too little
    std::unordered_map<std::uint64_t, int> words_{};
};

}  // namespace whittle::inline v0::detail
