#include "pi_tree.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

}  // namespace

bool PiTree::has_copy_of(const ordered_json& record) const {
    const std::string_view id = text_at(record, "id");
    return !id.empty() && places_.contains(std::string(id));
}

void PiTree::add(const ordered_json& record, PiNode node) {
    const std::size_t at = nodes_.size();
    node.parent = parent_of(record, node.is_side_branch);
    node.reset = node.is_reset ? at : node.parent == PiNode::none ? PiNode::none : nodes_[node.parent].reset;
    if (node.is_reset) reset_ = at;
    if (!node.is_side_branch) leaf_ = at;
    last_ = at;
    if (const std::string_view id = text_at(record, "id"); !id.empty()) places_.emplace(id, at);
    nodes_.push_back(std::move(node));
}

void PiTree::go_to(const ordered_json& leaf) {
    const auto known = [&](const char* key) -> std::optional<std::size_t> {
        const ordered_json* id = find_member(leaf, key);
        if (id != nullptr && id->is_null()) return PiNode::none;
        const auto place = places_.find(std::string(text_at(leaf, key)));
        return place == places_.end() ? std::nullopt : std::optional(place->second);
    };
    const auto target = known("targetId");
    const auto next = find_member(leaf, "appendParentId") == nullptr ? target : known("appendParentId");
    const std::string id(text_at(leaf, "id"));
    if (!target || !next) {
        if (!id.empty()) places_.try_emplace(id, known("parentId").value_or(leaf_));
        return;
    }
    const bool may_go = is_within_reset(*target);
    if (may_go) {
        leaf_ = *target;
        last_ = *next;
    }
    if (!id.empty()) places_.try_emplace(id, leaf_);
}

std::size_t PiTree::find(std::string_view id) const {
    const auto place = places_.find(std::string(id));
    return place == places_.end() ? PiNode::none : place->second;
}

std::vector<std::size_t> PiTree::path() const {
    std::vector<std::size_t> path;
    for (std::size_t at = leaf_; at != PiNode::none; at = nodes_[at].parent) path.push_back(at);
    std::ranges::reverse(path);
    return path;
}

std::size_t PiTree::parent_of(const ordered_json& record, bool is_side_branch) const {
    const ordered_json* id = find_member(record, "parentId");
    if (id == nullptr) return leaf_;
    std::size_t parent = PiNode::none;
    if (!id->is_null()) {
        const auto place = places_.find(std::string(text_at(record, "parentId")));
        if (place == places_.end()) return leaf_;
        parent = place->second;
    }
    if (is_side_branch) return parent;
    return parent == last_ || !is_within_reset(parent) ? leaf_ : parent;
}

bool PiTree::is_within_reset(std::size_t at) const {
    return reset_ == PiNode::none || (at != PiNode::none && nodes_[at].reset == reset_);
}

}  // namespace whittle::inline v0::logs
