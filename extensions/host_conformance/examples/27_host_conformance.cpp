// Whether your traits lose nothing: build messages by hand, dump every field, and let the suite compare.
#include "../../../examples/hosts/flat_adapter.hpp"

#include <whittle/host_conformance/conformance.hpp>

#include <iostream>

namespace {

using flat::msg;
using whittle::PartKind;

/// A message that shows exactly these parts, or none where the type cannot hold them.
std::optional<msg> build(const whittle::ChatMessage& shown, whittle::FieldValues& others) {
    msg built{std::string(to_string(shown.role)), ""};
    if (shown.role != whittle::Role::tool)
        built.tool_call_id = others.value();  // nothing whittle sees: it must survive
    const PartKind text = shown.role == whittle::Role::tool ? PartKind::tool_result : PartKind::text;
    for (const whittle::Part& part : shown.parts) {
        if (part.kind == PartKind::tool_call && shown.role != whittle::Role::tool) {
            built.tool_calls.push_back({part.tool, part.text, part.call_id});
        } else if (&part != &shown.parts[0] || part.kind != text || part.is_error ||
                   (part.kind == PartKind::text && part.text.empty())) {
            return std::nullopt;
        } else {
            built.content = part.text;
            if (part.kind == PartKind::tool_result) built.tool_call_id = part.call_id;
        }
    }
    return built;
}

std::string dump(const msg& m) {
    std::string all = m.role + '|' + m.content + '|' + m.tool_call_id;
    for (const auto& [name, arguments, id] : m.tool_calls) all += '|' + name + '|' + arguments + '|' + id;
    return all;
}

}  // namespace

int main() {
    // [run]
    const whittle::ConformanceReport report = whittle::host_conformance(whittle::MessageFixture<msg>{build, dump});
    std::cout << report.text();
    // [/run]
    return report.passed() ? 0 : 1;
}
