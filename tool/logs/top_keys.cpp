#include "top_keys.hpp"

#include "whittle/base/detail/json_scanner.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

/// Walks over JSON text and tells each key with the keys around it.
class KeyWalk {
public:
    explicit KeyWalk(std::string_view text) : text_(text), scanner_(text) {}

    /// The end of the outermost value ends the walk. Returns whether it was there, or the text is no object.
    template <typename OnKey>
    bool run(const OnKey& on_key) {
        using Kind = detail::JsonToken::Kind;
        detail::JsonToken token = scanner_.next();
        if (token.kind != Kind::open_object) return token.kind != Kind::end;
        for (; token.kind != Kind::end; token = scanner_.next()) {
            if (token.opens()) {
                if (scanner_.depth() <= max_levels)
                    open_.push_back({.key = {}, .is_object = token.kind == Kind::open_object});
            } else if (token.closes()) {
                if (scanner_.depth() < open_.size()) open_.pop_back();
                if (open_.empty()) return true;
            } else if (token.kind == Kind::name && scanner_.depth() <= max_levels && open_.back().is_object) {
                take_key(token, on_key);
            }
        }
        return false;
    }

    struct Level {
        std::string_view key{};
        bool is_object = false;
    };

private:
    static constexpr std::size_t max_levels = 3;

    template <typename OnKey>
    void take_key(const detail::JsonToken& name, const OnKey& on_key) {
        const std::size_t behind_colon = scanner_.next().end;
        const std::size_t value = std::min(text_.find_first_not_of(" \n\r\t", behind_colon), text_.size());
        open_.back().key = text_.substr(name.begin + 1, name.end - name.begin - 2);
        on_key(open_, text_.substr(value));
    }

    std::string_view text_;
    detail::JsonScanner scanner_;
    std::vector<Level> open_{};
};

/// The string that `rest` begins with, if it ends in time.
std::string_view string_at(std::string_view rest) {
    if (!rest.starts_with('"')) return {};
    const std::size_t end = rest.find('"', 1);
    return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
}

}  // namespace

TopKeys::TopKeys(std::string_view text) {
    constexpr std::size_t max_keys = 20'000;  // a table of names is no record
    constexpr std::size_t longest_key = 256;
    is_whole_ = KeyWalk(text).run([&](const std::vector<KeyWalk::Level>& open, std::string_view rest) {
        if (keys_.size() >= max_keys || open.back().key.size() > longest_key) return;
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
