#include "json_positions.hpp"

#include "whittle/base/detail/json_scanner.hpp"
#include "whittle/provider/detail/json_text.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

namespace {

using NodeId = JsonPositions::NodeId;
using Node = JsonPositions::Node;
using Kind = JsonPositions::Kind;

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

Kind kind_of(char first) noexcept {
    if (first == '{') return Kind::object;
    if (first == '[') return Kind::array;
    if (first == '"') return Kind::string;
    return first == '-' || (first >= '0' && first <= '9') ? Kind::number : Kind::literal;
}

/// Walks once over a valid JSON text.
class NodeReader {
public:
    NodeReader(std::string_view text, std::vector<Node>& nodes) : text_(text), nodes_(nodes) {}

    void run() {
        JsonScanner scanner(text_, text_.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
        for (JsonToken token = scanner.next(); token.kind != JsonToken::Kind::end; token = scanner.next()) take(token);
    }

private:
    struct Level {
        NodeId node;
        NodeId last_child = JsonPositions::none;
    };

    void take(const JsonToken& token) {
        if (token.kind == JsonToken::Kind::comma || token.kind == JsonToken::Kind::colon) return;
        if (token.kind == JsonToken::Kind::name) {
            name_ = token;
        } else if (token.closes()) {
            close(token.end);
        } else {
            const NodeId id = add(token);
            if (token.opens()) levels_.push_back({id});
        }
    }

    NodeId add(const JsonToken& token) {
        const auto id = static_cast<NodeId>(nodes_.size());
        Node node{.kind = kind_of(text_[token.begin]),
                  .offset = static_cast<std::uint32_t>(token.begin),
                  .size = static_cast<std::uint32_t>(token.end - token.begin),
                  .key_offset = static_cast<std::uint32_t>(name_.begin),
                  .key_size = static_cast<std::uint32_t>(name_.end - name_.begin)};
        name_ = {};
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

    void close(std::size_t end) {
        if (levels_.empty()) return;
        Node& node = nodes_[levels_.back().node];
        node.size = static_cast<std::uint32_t>(end - node.offset);
        levels_.pop_back();
    }

    std::string_view text_;
    std::vector<Node>& nodes_;
    std::vector<Level> levels_{};
    JsonToken name_{};  // of the member that comes next
};

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

JsonPositions::JsonPositions(std::string_view text) : text_(text) { NodeReader(text, nodes_).run(); }

std::string JsonPositions::key(NodeId id) const {
    const Node& node = nodes_[id];
    return node.key_size == 0 ? std::string() : unquoted_json(text_.substr(node.key_offset, node.key_size));
}

std::string JsonPositions::text(NodeId id) const { return unquoted_json(raw(id)); }

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
