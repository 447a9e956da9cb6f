#include "evaluation/detail/part_collector.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::evaluation::detail {

void PartCollector::add(const PartView& part) {
    const bool is_in_result = part.kind == PartKind::tool_result ||
                              (part.kind == PartKind::media && (part.starts_new_result || !part.call_id.empty()));
    if (is_in_result) return add_to_result(part);
    if (part.kind != PartKind::tool_call) return add_content(rest_, part, rest_parts_);
    rest_.calls.push_back({std::string(part.call_id), std::string(part.tool), std::string(part.text)});
}

/// Parts of a content stand in lines of their own, one without text too.
void PartCollector::add_content(Message& to, const PartView& part, int& parts) {
    if (part.kind == PartKind::other) return;
    if (parts++ > 0) to.content += '\n';
    if (part.kind == PartKind::media) {
        ++to.media;
    } else {
        to.content += part.text;
    }
    to.blocks = parts;
}

void PartCollector::add_to_result(const PartView& part) {
    const bool is_new =
        results_.empty() || part.call_id != results_.back().result_of || (part.starts_new_result && result_parts_ > 0);
    if (is_new) {
        results_.push_back({.role = Role::tool, .result_of = std::string(part.call_id)});
        result_parts_ = 0;
    }
    if (results_.back().name.empty()) results_.back().name = part.tool;
    add_content(results_.back(), part, result_parts_);
}

std::vector<Message> PartCollector::take() {
    std::vector<Message> all = std::move(results_);
    // A reply is one, whatever stands in it: model calls are counted by it.
    if (!all.empty() && rest_.role != Role::assistant && rest_parts_ == 0 && rest_.calls.empty()) return all;
    const bool has_content = rest_parts_ > 1 || !rest_.content.empty() || rest_.media > 0;
    rest_.blocks = std::max(1, (has_content ? rest_parts_ : 0) + static_cast<int>(rest_.calls.size()));
    all.push_back(std::move(rest_));
    return all;
}

}  // namespace whittle::inline v0::evaluation::detail
