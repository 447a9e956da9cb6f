#include "json_nodes.hpp"

#include "whittle/base/detail/json_scanner.hpp"

#include <functional>
#include <unordered_set>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t most_nodes = 1U << 20U;

std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) noexcept {
    sum ^= value + 0x9e3779b97f4a7c15ULL + (sum << 6U) + (sum >> 2U);
    return sum * 0xff51afd7ed558ccdULL;
}

}  // namespace

/// Goes through a text once.
class JsonNodeReader {
public:
    explicit JsonNodeReader(std::string_view text) : nodes_(text), text_(text) {}

    std::optional<JsonNodes> read(bool are_lines) {
        if (are_lines) open(JsonNode::Kind::array, 0);
        JsonScanner scanner(text_);
        JsonToken token = scanner.next();
        for (; token.kind != JsonToken::Kind::end && nodes_.nodes_.size() < most_nodes; token = scanner.next())
            read_token(token);
        if (are_lines && !open_.empty()) close(text_.size());
        if (nodes_.nodes_.empty() || nodes_.nodes_.size() >= most_nodes || !open_.empty()) return std::nullopt;
        return std::move(nodes_);
    }

private:
    struct Open {
        std::uint32_t node = 0;
        std::uint32_t last_child = JsonNode::none;
    };

    void read_token(const JsonToken& token) {
        using Kind = JsonToken::Kind;
        switch (token.kind) {
            case Kind::open_object: return open(JsonNode::Kind::object, token.begin);
            case Kind::open_array: return open(JsonNode::Kind::array, token.begin);
            case Kind::close_object:
            case Kind::close_array:
                if (!open_.empty()) close(token.end);
                return;
            case Kind::name: return take_key(token);
            case Kind::string:
            case Kind::cut: return add(JsonNode::Kind::string, token.begin, token.end);
            case Kind::scalar: return add(JsonNode::Kind::other, token.begin, token.end);
            case Kind::comma:
            case Kind::colon:
            case Kind::end: return;
        }
    }

    void take_key(const JsonToken& token) {
        key_ = token;
        if (!known_.insert(text_.substr(token.begin, token.end - token.begin)).second) return;
        // What is marked has all around it marked: no node is marked twice.
        for (std::size_t i = open_.size(); i-- > 0 && !node_of(open_[i]).has_new_key;)
            node_of(open_[i]).has_new_key = true;
    }

    void add(JsonNode::Kind kind, std::size_t begin, std::size_t end) {
        const auto index = static_cast<std::uint32_t>(nodes_.nodes_.size());
        nodes_.nodes_.push_back({.kind = kind,
                                 .begin = static_cast<std::uint32_t>(begin),
                                 .end = static_cast<std::uint32_t>(end),
                                 .key_begin = static_cast<std::uint32_t>(key_.begin),
                                 .key_end = static_cast<std::uint32_t>(key_.end)});
        key_ = {};
        if (open_.empty()) return;
        Open& parent = open_.back();
        JsonNode& around = node_of(parent);
        (parent.last_child == JsonNode::none ? around.first_child : nodes_.nodes_[parent.last_child].next) = index;
        parent.last_child = index;
        ++around.children;
    }

    void open(JsonNode::Kind kind, std::size_t at) {
        add(kind, at, at);
        open_.push_back({static_cast<std::uint32_t>(nodes_.nodes_.size() - 1)});
    }

    void close(std::size_t end) {
        const std::uint32_t index = open_.back().node;
        JsonNode& node = nodes_.nodes_[index];
        node.end = static_cast<std::uint32_t>(end);
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
    JsonToken key_{};                               // of the member that comes next
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
