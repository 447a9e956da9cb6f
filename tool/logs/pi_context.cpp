#include "pi_context.hpp"

#include "pi_form.hpp"

#include <utility>

namespace whittle::inline v0::logs {
namespace {

std::vector<std::string> ids_of_pi_calls(const ordered_json& message) {
    std::vector<std::string> ids;
    if (const ordered_json* calls = tree_at(message, "tool_calls")) {
        for (const ordered_json& call : *calls) ids.emplace_back(text_at(call, "id"));
    }
    return ids;
}

/// What pi sends where a call has no result.
ordered_json no_result_of(std::string_view call) { return openai_result(call, "No result provided"); }

bool holds_calls(const ordered_json& message) { return tree_at(message, "tool_calls") != nullptr; }

}  // namespace

void PiContext::follow() {
    for (const std::size_t at : tree_.path()) pass(at);
    leave_out_branches();
}

void PiContext::pass(std::size_t at) {
    PiNode& node = tree_[at];
    node.place = entries_.size();
    switch (node.kind) {
        case PiKind::other: return;
        case PiKind::message: return add(node);
        case PiKind::failed: return answer_calls(node);
        case PiKind::prompt: return prompt_.change(node.body);
        case PiKind::compaction: return compact(at);
        case PiKind::edit: return edit(at);
    }
}

void PiContext::add(PiNode& node) {
    begin_with_edits();
    const std::string_view role = text_at(node.entry.message, "role");
    if (role == "tool") {
        answered_.emplace(text_at(node.entry.message, "tool_call_id"));
        node.reply = reply_;
    } else {
        answer_calls(node);
    }
    if (role == "assistant") {
        open_ = ids_of_pi_calls(node.entry.message);
        reply_ = entries_.size();
    }
    node.place = entries_.add(std::exchange(node.entry, {}));
}

void PiContext::answer_calls(const PiNode& next) {
    for (const std::string& id : open_) {
        if (answered_.contains(id)) continue;
        const std::size_t place = entries_.add(
            {.message = no_result_of(id), .time = next.entry.time, .line = next.entry.line, .call = std::nullopt});
        made_.emplace(place, reply_);
    }
    open_.clear();
    answered_.clear();
}

void PiContext::compact(std::size_t at) {
    PiNode& node = tree_[at];
    const PiNode* first = node.target == PiNode::none ? nullptr : &tree_[node.target];
    const bool keeps = first != nullptr && first->place != PiNode::none;
    front_ = std::move(node.entry.message);
    first_ = keeps ? first->place : entries_.size();
    first_node_ = keeps ? node.target : at;
    has_new_edits_ = false;
    if (reply_ < first_) open_.clear();  // the reply is gone, and so are its calls
    if (node.body.is_object()) prompt_.begin_with(node.body);
    Compaction& compaction = entries_.compact();
    compaction.trigger = std::move(node.trigger);
    compaction.tokens_before = node.tokens_before;
    if (may_copy()) return keep(compaction);
    if (!front_.is_null()) compaction.kept.push_back(front_);
    first_ = entries_.size();
    ++notes_.unknown["compaction that keeps more than is copied"];
}

void PiContext::edit(std::size_t at) {
    PiNode& node = tree_[at];
    if (node.target == PiNode::none || tree_[node.target].kind != PiKind::message) return;
    const std::size_t place = tree_[node.target].place;
    if (place == PiNode::none) return;
    const ordered_json& message = entries_[place].message;
    made_.erase(place);
    if (!node.body.is_null()) {
        node.body = with_pi_content(message, node.body, notes_);
    } else if (const std::string_view id = text_at(message, "tool_call_id"); text_at(message, "role") == "tool") {
        if (!copies_.take(sizeof(Entry) + id.size())) {
            ++notes_.unknown["context_edit that keeps more than is copied"];
            return;
        }
        node.body = no_result_of(id);
        made_.emplace(place, tree_[node.target].reply);
    }
    edits_[place] = at;
    if (place == reply_ && !holds_calls(node.body)) open_.clear();
    has_new_edits_ = has_new_edits_ || place >= first_;
}

void PiContext::begin_with_edits() {
    if (!std::exchange(has_new_edits_, false)) return;
    if (!may_copy()) {
        ++notes_.unknown["context_edit that keeps more than is copied"];
        return;
    }
    Compaction& compaction = entries_.compact();
    compaction.trigger = "context_edit";
    keep(compaction);
}

const ordered_json& PiContext::sent(std::size_t place) {
    static const ordered_json nothing;
    const auto edited = edits_.find(place);
    const bool is_edited = edited != edits_.end() && edited->second >= first_node_;
    const ordered_json& message = is_edited ? tree_[edited->second].body : entries_[place].message;
    const auto made = made_.find(place);
    if (made == made_.end() || (!is_edited && edited != edits_.end())) return message;
    const bool has_call = made->second >= first_ && made->second < place && holds_calls(sent(made->second));
    return has_call ? message : nothing;
}

bool PiContext::may_copy() {
    if (copies_.is_spent()) return false;
    std::size_t bytes = memory_of(front_);
    for (std::size_t i = first_; i < entries_.size(); ++i) bytes += memory_of(sent(i));
    return copies_.take(bytes);
}

void PiContext::keep(Compaction& compaction) {
    if (!front_.is_null()) compaction.kept.push_back(front_);
    for (std::size_t i = first_; i < entries_.size(); ++i) {
        if (const ordered_json& message = sent(i); !message.is_null()) compaction.kept.push_back(message);
    }
}

void PiContext::leave_out_branches() {
    for (PiNode& node : tree_.nodes()) {
        if (node.kind != PiKind::message || node.place != PiNode::none) continue;
        ++notes_.left_out["message of another branch"];
        if (!node.entry.call) continue;
        if (!node.entry.call->time) node.entry.call->time = node.entry.time;
        entries_.bill_elsewhere(*std::move(node.entry.call));
    }
}

}  // namespace whittle::inline v0::logs
