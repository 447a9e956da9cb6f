#include "whittle/token_saving/steps.hpp"

#include <algorithm>

namespace whittle::inline v0::detail {

void StepBuilder::add(const PartView& part, const PartInfo& info, const Mark& mark, Role role) {
    if (part.kind == PartKind::tool_result) return add_result(part, info, mark);
    if (role != Role::assistant) return;
    if (part.kind == PartKind::text) {
        thought_ += (thought_.empty() ? "" : "\n");
        thought_ += part.text;
    } else if (part.kind == PartKind::tool_call) {
        by_name_[info.object_name] = steps_.size();
        steps_.push_back({.step_index = static_cast<std::int64_t>(steps_.size()),
                          .action = std::string(part.tool),
                          .action_input = std::string(part.text)});
    }
}

void StepBuilder::add_result(const PartView& part, const PartInfo& info, const Mark& mark) {
    const auto found = by_name_.find(info.object_name);
    if (found == by_name_.end()) return;
    Step& step = steps_[found->second];
    step.observation += (step.observation.empty() ? "" : "\n");
    step.observation += part.text;
    step.is_error = step.is_error || part.is_error;
    step.is_shortened = step.is_shortened || origin_of(mark) != Origin::original;
}

void StepBuilder::end_message(Role role) {
    if (role != Role::assistant) return;
    if (steps_.size() == message_first_) steps_.push_back({.step_index = static_cast<std::int64_t>(steps_.size())});
    for (std::size_t i = message_first_; i < steps_.size(); ++i) steps_[i].thought = thought_;
}

std::size_t first_reply_since(const Outline& outline, int model_calls) noexcept {
    std::size_t first = outline.size();
    while (first > 0 && !starts_turn(outline[first - 1])) --first;
    while (first < outline.size() &&
           (outline[first].role != Role::assistant || outline[first].call_index < model_calls))
        ++first;
    return first;
}

}  // namespace whittle::inline v0::detail
