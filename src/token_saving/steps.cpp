#include "whittle/token_saving/steps.hpp"

#include <unordered_map>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// Takes a message apart into steps; results find theirs by the unique name of their call.
class StepBuilder {
public:
    void begin_message() { message_first_ = steps_.size(), thought_.clear(); }
    void add(const PartView& part, const PartInfo& info, const Mark& mark, Role role);
    void end_message(Role role);
    [[nodiscard]] std::vector<Step> take() { return std::move(steps_); }

private:
    void add_result(const PartView& part, const PartInfo& info, const Mark& mark);

    std::vector<Step> steps_{};
    std::unordered_map<SharedString, std::size_t> by_name_{};
    std::size_t message_first_ = 0;
    std::string thought_{};
};

void StepBuilder::add(const PartView& part, const PartInfo& info, const Mark& mark, Role role) {
    if (part.kind == PartKind::tool_result) return add_result(part, info, mark);
    if (role != Role::assistant) return;
    if (part.kind == PartKind::text) {
        thought_ += (thought_.empty() ? "" : "\n");
        thought_ += part.text;
    } else if (part.kind == PartKind::tool_call) {
        by_name_[info.key_safe_call_id] = steps_.size();
        steps_.push_back({.step_index = static_cast<std::int64_t>(steps_.size()),
                          .action = std::string(part.tool),
                          .action_input = std::string(part.text)});
    }
}

void StepBuilder::add_result(const PartView& part, const PartInfo& info, const Mark& mark) {
    const auto found = by_name_.find(info.key_safe_call_id);
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

}  // namespace

std::vector<Step> steps_from(const Outline& outline, std::size_t first, VisitParts visit_parts) {
    StepBuilder builder;
    for (std::size_t i = first; i < outline.size(); ++i) {
        const MessageInfo& info = outline[i];
        builder.begin_message();
        std::size_t p = 0;
        visit_parts(i, [&](const PartView& part) {
            builder.add(part, info.parts[p], mark_of(info, p), info.role);
            ++p;
        });
        builder.end_message(info.role);
    }
    return builder.take();
}

}  // namespace whittle::inline v0::detail
