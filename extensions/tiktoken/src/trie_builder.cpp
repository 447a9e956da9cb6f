#include "trie_builder.hpp"

#include "whittle/base/error.hpp"

#include <algorithm>

namespace whittle::inline v0::bpe {
namespace {

constexpr std::size_t bytes = 256;

/// The tokens that start with the bytes on the way to a cell.
struct Node {
    std::size_t cell;
    std::size_t first;
    std::size_t last;
    std::size_t depth;
};

struct Child {
    unsigned char byte;
    std::size_t first;
    std::size_t last;
};

class TrieBuilder {
public:
    explicit TrieBuilder(const std::vector<SortedToken>& tokens) : tokens_(tokens) {
        grow_to(bytes);
        cells_[0].set_parent(0);
    }

    std::vector<TrieCell> run() {
        nodes_.push_back({0, 0, tokens_.size(), 0});
        for (std::size_t i = 0; i < nodes_.size(); ++i) expand(nodes_[i]);
        cells_.resize(highest_base_ + bytes);
        return std::move(cells_);
    }

private:
    void expand(Node node) {
        if (node.first < node.last && tokens_[node.first].bytes.size() == node.depth)
            cells_[node.cell].set_token(tokens_[node.first++].id);
        find_children(node);
        if (children_.empty()) return;
        const std::size_t base = free_base();
        cells_[node.cell].set_base(base);
        highest_base_ = std::max(highest_base_, base);
        for (const Child& child : children_) {
            const std::size_t cell = base + child.byte;
            cells_[cell].set_parent(node.cell);
            nodes_.push_back({cell, child.first, child.last, node.depth + 1});
        }
    }

    void find_children(const Node& node) {
        children_.clear();
        for (std::size_t i = node.first; i < node.last;) {
            const auto byte = static_cast<unsigned char>(tokens_[i].bytes[node.depth]);
            const std::size_t first = i;
            i = end_of_group(node, i, byte);
            children_.push_back({byte, first, i});
        }
    }

    /// The first token from `from` on that goes on with another byte, found in steps of doubling length.
    [[nodiscard]] std::size_t end_of_group(const Node& node, std::size_t from, unsigned char byte) const noexcept {
        const auto is_in = [&](std::size_t i) {
            return i < node.last && static_cast<unsigned char>(tokens_[i].bytes[node.depth]) == byte;
        };
        std::size_t step = 1;
        while (is_in(from + step)) step *= 2;
        for (; step > 0; step /= 2)
            if (is_in(from + step)) from += step;
        return from + 1;
    }

    std::size_t free_base() {
        if (children_.size() == 1) return free_cell() - children_[0].byte;
        constexpr std::size_t patience = 256;
        std::size_t tried = 0;
        for (std::size_t base = search_from_;; ++base) {
            grow_to(base + bytes);
            if (std::ranges::all_of(children_, [&](const Child& c) { return is_free(base + c.byte); })) return base;
            // Where most cells are taken, later searches need not look again.
            if (++tried == patience) search_from_ = base;
        }
    }

    /// The first free one that any byte can lead to.
    std::size_t free_cell() {
        while (first_free_ < cells_.size() && !is_free(first_free_)) ++first_free_;
        grow_to(first_free_ + bytes);
        return first_free_;
    }

    [[nodiscard]] bool is_free(std::size_t cell) const noexcept { return cells_[cell].parent_plus_1() == 0; }

    void grow_to(std::size_t size) {
        if (size >= TrieCell::index_mask)
            throw Error(Errc::limit_exceeded, "pack the vocabulary: its tokens do not fit the table");
        if (cells_.size() < size) cells_.resize(std::max(size, cells_.size() + cells_.size() / 2));
    }

    const std::vector<SortedToken>& tokens_;
    std::vector<TrieCell> cells_{};
    std::vector<Node> nodes_{};
    std::vector<Child> children_{};
    std::size_t search_from_ = 1;
    std::size_t first_free_ = bytes;
    std::size_t highest_base_ = 0;
};

}  // namespace

std::vector<TrieCell> build_trie(const std::vector<SortedToken>& tokens) { return TrieBuilder(tokens).run(); }

}  // namespace whittle::inline v0::bpe
