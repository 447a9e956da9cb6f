#include "json_nodes.hpp"

#include "whittle/base/detail/ascii.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t most_nodes = 1U << 20U;

std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) noexcept {
    sum ^= value + 0x9e3779b97f4a7c15ULL + (sum << 6U) + (sum >> 2U);
    return sum * 0xff51afd7ed558ccdULL;
}

std::uint32_t end_of_string(std::string_view text, std::uint32_t at) noexcept {
    ++at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return static_cast<std::uint32_t>(std::min<std::size_t>(at + 1, text.size()));
}

std::uint32_t end_of_word(std::string_view text, std::uint32_t at) noexcept {
    while (at < text.size() && !is_space(text[at]) && std::string_view(",:]}").find(text[at]) == std::string_view::npos)
        ++at;
    return at;
}

}  // namespace

/// Goes through a text once.
class JsonNodeReader {
public:
    explicit JsonNodeReader(std::string_view text) : nodes_(text), text_(text) {}

    std::optional<JsonNodes> read(bool are_lines) {
        const auto size = static_cast<std::uint32_t>(text_.size());
        if (are_lines) open(JsonNode::Kind::array, 0);
        for (std::uint32_t at = 0; at < size && nodes_.nodes_.size() < most_nodes;) at = read_token(at);
        if (are_lines && !open_.empty()) close(size);
        if (nodes_.nodes_.empty() || nodes_.nodes_.size() >= most_nodes || !open_.empty()) return std::nullopt;
        return std::move(nodes_);
    }

private:
    struct Open {
        std::uint32_t node = 0;
        std::uint32_t last_child = JsonNode::none;
    };

    std::uint32_t read_token(std::uint32_t at) {
        const char c = text_[at];
        if (is_space(c) || c == ',' || c == ':') return at + 1;
        if (c == '{' || c == '[') {
            open(c == '{' ? JsonNode::Kind::object : JsonNode::Kind::array, at);
            return at + 1;
        }
        if (c == '}' || c == ']') {
            if (!open_.empty()) close(at + 1);
            return at + 1;
        }
        if (c != '"') return add(JsonNode::Kind::other, at, std::max(at + 1, end_of_word(text_, at)));
        const std::uint32_t end = end_of_string(text_, at);
        const bool is_key = !has_key_ && !open_.empty() && node_of(open_.back()).kind == JsonNode::Kind::object;
        return is_key ? take_key(at, end) : add(JsonNode::Kind::string, at, end);
    }

    std::uint32_t take_key(std::uint32_t begin, std::uint32_t end) {
        key_begin_ = begin;
        key_end_ = end;
        has_key_ = true;
        if (!known_.insert(text_.substr(begin, end - begin)).second) return end;
        // What is marked has all around it marked: no node is marked twice.
        for (std::size_t i = open_.size(); i-- > 0 && !node_of(open_[i]).has_new_key;)
            node_of(open_[i]).has_new_key = true;
        return end;
    }

    std::uint32_t add(JsonNode::Kind kind, std::uint32_t begin, std::uint32_t end) {
        const auto index = static_cast<std::uint32_t>(nodes_.nodes_.size());
        JsonNode node{.kind = kind, .begin = begin, .end = end};
        if (has_key_) {
            node.key_begin = key_begin_;
            node.key_end = key_end_;
        }
        has_key_ = false;
        nodes_.nodes_.push_back(node);
        if (open_.empty()) return end;
        Open& parent = open_.back();
        JsonNode& around = node_of(parent);
        (parent.last_child == JsonNode::none ? around.first_child : nodes_.nodes_[parent.last_child].next) = index;
        parent.last_child = index;
        ++around.children;
        return end;
    }

    void open(JsonNode::Kind kind, std::uint32_t at) {
        add(kind, at, at);
        open_.push_back({static_cast<std::uint32_t>(nodes_.nodes_.size() - 1)});
    }

    void close(std::uint32_t end) {
        const std::uint32_t index = open_.back().node;
        JsonNode& node = nodes_.nodes_[index];
        node.end = end;
        open_.pop_back();
        if (node.kind != JsonNode::Kind::object) return;
        for (std::uint32_t child = node.first_child; child != JsonNode::none; child = nodes_[child].next) {
            const std::uint64_t name = std::hash<std::string_view>{}(nodes_.key(child));
            node.keys = mixed(node.keys, name);
            node.deep_keys = mixed(mixed(node.deep_keys, name), nodes_.has_fields(child) ? nodes_[child].deep_keys : 1);
        }
    }

    [[nodiscard]] JsonNode& node_of(const Open& open) noexcept { return nodes_.nodes_[open.node]; }

    JsonNodes nodes_;
    std::string_view text_;
    std::vector<Open> open_{};
    std::unordered_set<std::string_view> known_{};  // names
    std::uint32_t key_begin_ = 0;
    std::uint32_t key_end_ = 0;
    bool has_key_ = false;
};

std::optional<JsonNodes> JsonNodes::of(std::string_view text, bool are_lines) {
    if (text.size() >= JsonNode::none) return std::nullopt;
    return JsonNodeReader(text).read(are_lines);
}

bool JsonNodes::has_key(std::string_view with_quotes) const noexcept {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].key_end > 0 && key(i) == with_quotes) return true;
    }
    return false;
}

}  // namespace whittle::inline v0::detail
