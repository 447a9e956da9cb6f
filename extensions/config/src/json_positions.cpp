#include "json_positions.hpp"

#include "whittle/provider/detail/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

using NodeId = JsonPositions::NodeId;
using Node = JsonPositions::Node;
using Kind = JsonPositions::Kind;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::size_t end_of_string(std::string_view text, std::size_t quote) noexcept {
    std::size_t i = quote + 1;
    while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2U : 1U;
    return std::min(i + 1, text.size());
}

std::size_t end_of_scalar(std::string_view text, std::size_t start) noexcept {
    const std::size_t end = text.find_first_of(" \t\n\r,]}", start);
    return end == std::string_view::npos ? text.size() : end;
}

Kind kind_of(char first) noexcept {
    if (first == '{') return Kind::object;
    if (first == '[') return Kind::array;
    if (first == '"') return Kind::string;
    return first == '-' || (first >= '0' && first <= '9') ? Kind::number : Kind::literal;
}

/// Walks once over a valid JSON text.
class Scanner {
public:
    Scanner(std::string_view text, std::vector<Node>& nodes) : text_(text), nodes_(nodes) {}

    void run() {
        std::size_t i = text_.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
        while (i < text_.size()) i = step(i);
    }

private:
    struct Level {
        NodeId node;
        NodeId last_child = JsonPositions::none;
    };

    std::size_t step(std::size_t i) {
        const char c = text_[i];
        if (std::string_view(" \t\n\r,:").find(c) != std::string_view::npos) return i + 1;
        if (c == '}' || c == ']') return close(i);
        if (c == '"' && wants_key()) return take_key(i);
        const NodeId id = add(i);
        if (c == '{' || c == '[') {
            levels_.push_back({id});
            return i + 1;
        }
        const std::size_t end = c == '"' ? end_of_string(text_, i) : end_of_scalar(text_, i);
        nodes_[id].size = static_cast<std::uint32_t>(end - i);
        return end;
    }

    [[nodiscard]] bool wants_key() const noexcept {
        return !levels_.empty() && nodes_[levels_.back().node].kind == Kind::object && key_size_ == 0;
    }

    std::size_t take_key(std::size_t i) {
        const std::size_t end = end_of_string(text_, i);
        key_offset_ = static_cast<std::uint32_t>(i);
        key_size_ = static_cast<std::uint32_t>(end - i);
        return end;
    }

    NodeId add(std::size_t i) {
        const auto id = static_cast<NodeId>(nodes_.size());
        Node node{.kind = kind_of(text_[i]),
                  .offset = static_cast<std::uint32_t>(i),
                  .key_offset = key_offset_,
                  .key_size = key_size_};
        key_size_ = 0;
        if (!levels_.empty()) {
            Level& level = levels_.back();
            node.parent = level.node;
            (level.last_child == JsonPositions::none ? nodes_[level.node].first_child : nodes_[level.last_child].next) =
                id;
            level.last_child = id;
        }
        nodes_.push_back(node);
        return id;
    }

    std::size_t close(std::size_t i) {
        if (levels_.empty()) return i + 1;
        Node& node = nodes_[levels_.back().node];
        node.size = static_cast<std::uint32_t>(i + 1 - node.offset);
        levels_.pop_back();
        return i + 1;
    }

    std::string_view text_;
    std::vector<Node>& nodes_;
    std::vector<Level> levels_{};
    std::uint32_t key_offset_ = 0;
    std::uint32_t key_size_ = 0;
};

std::string unescape(std::string_view quoted) {
    return nlohmann::json::parse(quoted.begin(), quoted.end()).get<std::string>();
}

}  // namespace

TextPlace place_of(std::string_view text, std::size_t offset) noexcept {
    const std::string_view before = text.substr(0, std::min(offset, text.size()));
    const std::size_t line_start = before.find_last_of('\n') + 1;  // npos + 1 is 0
    std::string_view line = before.substr(line_start);
    if (line_start == 0 && line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    return {.line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1,
            .column = static_cast<std::size_t>(std::ranges::count_if(line, is_character)) + 1};
}

JsonPositions::JsonPositions(std::string_view text) : text_(text) { Scanner(text, nodes_).run(); }

std::string JsonPositions::key(NodeId id) const {
    const Node& node = nodes_[id];
    return node.key_size == 0 ? std::string() : unescape(text_.substr(node.key_offset, node.key_size));
}

std::string JsonPositions::text(NodeId id) const { return unescape(raw(id)); }

NodeId JsonPositions::member(NodeId object, std::string_view key_wanted) const {
    for (NodeId child = nodes_[object].first_child; child != none; child = nodes_[child].next) {
        if (nodes_[child].key_size != 0 && key(child) == key_wanted) return child;
    }
    return none;
}

std::string JsonPositions::path(NodeId id) const {
    std::vector<NodeId> way;
    for (; id != none && nodes_[id].parent != none; id = nodes_[id].parent) way.push_back(id);
    std::string path;
    for (auto at = way.rbegin(); at != way.rend(); ++at) {
        if (nodes_[*at].key_size != 0) {
            path += (path.empty() ? "" : ".") + clip_for_error(key(*at));
            continue;
        }
        std::size_t index = 0;
        for (NodeId child = nodes_[nodes_[*at].parent].first_child; child != *at; child = nodes_[child].next) ++index;
        path += "[" + std::to_string(index) + "]";
    }
    return path;
}

TextPlace JsonPositions::place_of_key(NodeId id) const noexcept {
    const Node& node = nodes_[id];
    return place_of(text_, node.key_size != 0 ? node.key_offset : node.offset);
}

}  // namespace whittle::inline v0::detail
