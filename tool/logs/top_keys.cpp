#include "top_keys.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

/// Walks over JSON text and tells each key with the keys around it.
class KeyWalk {
public:
    explicit KeyWalk(std::string_view text) : text_(text) {}

    /// The end of the outermost value ends the walk. Returns whether it was there, or the text is no object.
    template <typename OnKey>
    bool run(const OnKey& on_key) {
        skip_space();
        if (at_ == text_.size()) return false;
        if (text_[at_] != '{') return true;
        while (at_ < text_.size()) {
            const char c = text_[at_];
            if (c == '"') {
                const auto string = take_string();
                if (!string) return false;
                skip_space();
                const bool is_key = at_ < text_.size() && text_[at_] == ':' && deeper_ == 0 && open_.back().is_object;
                if (!is_key) continue;
                ++at_;
                skip_space();
                open_.back().key = *string;
                on_key(open_, text_.substr(at_));
            } else if (c == '{' || c == '[') {
                if (open_.size() == told_levels) {
                    ++deeper_;
                } else {
                    open_.push_back({.key = {}, .is_object = c == '{'});
                }
                ++at_;
            } else if (c == '}' || c == ']') {
                ++at_;
                if (deeper_ > 0) {
                    --deeper_;
                    continue;
                }
                open_.pop_back();
                if (open_.empty()) return true;
            } else {
                ++at_;
            }
        }
        return false;
    }

    struct Level {
        std::string_view key{};
        bool is_object = false;
    };

private:
    static constexpr std::size_t told_levels = 3;

    void skip_space() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
            ++at_;
    }

    /// nullopt if it does not end.
    std::optional<std::string_view> take_string() {
        const std::size_t begin = ++at_;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\\') {
                ++at_;
            } else if (text_[at_] == '"') {
                return text_.substr(begin, at_++ - begin);
            }
        }
        at_ = text_.size();
        return std::nullopt;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<Level> open_{};
    std::size_t deeper_ = 0;  // levels below these, of which no key is told
};

/// The string that `rest` begins with, if it ends in time.
std::string_view string_at(std::string_view rest) {
    if (!rest.starts_with('"')) return {};
    const std::size_t end = rest.find('"', 1);
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
}

}  // namespace

TopKeys::TopKeys(std::string_view text) {
    constexpr std::size_t most_keys = 20'000;  // a table of names is no record
    constexpr std::size_t longest_key = 256;
    is_whole_ = KeyWalk(text).run([&](const std::vector<KeyWalk::Level>& open, std::string_view rest) {
        if (keys_.size() >= most_keys || open.back().key.size() > longest_key) return;
        if (open.size() == 1) {
            keys_.emplace(open[0].key, string_at(rest));
        } else if (open.size() == 2 && open[1].is_object) {
            keys_.emplace(std::string(open[0].key) + "." + std::string(open[1].key), string_at(rest));
        } else if (open.size() == 3 && !open[1].is_object) {
            first_.emplace(open[0].key, open[2].key);
            keys_.emplace(std::string(open[0].key) + "[]." + std::string(open[2].key), string_at(rest));
        }
    });
}

std::string_view TopKeys::text(std::string_view path) const {
    const auto at = keys_.find(path);
    return at == keys_.end() ? std::string_view() : at->second;
}

std::vector<std::string> TopKeys::names(std::size_t most) const {
    constexpr std::size_t longest_name = 64;
    std::vector<std::string> names;
    for (const auto& [path, value] : keys_) {
        if (names.size() == most) break;
        if (path.find('.') == std::string::npos) names.push_back(path.substr(0, longest_name));
    }
    return names;
}

std::string_view TopKeys::first_of(std::string_view key) const {
    const auto at = first_.find(key);
    return at == first_.end() ? std::string_view() : at->second;
}

}  // namespace whittle::inline v0::logs
