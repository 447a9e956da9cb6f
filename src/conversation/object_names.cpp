#include "whittle/conversation/detail/object_names.hpp"

#include "../message/part_facts.hpp"
#include "whittle/base/detail/ascii.hpp"
#include "whittle/base/detail/names.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <string>
#include <string_view>

namespace whittle::inline v0 {

namespace {

constexpr std::size_t longest_name = 64;  // of a safe name
constexpr std::size_t most_tools = 256;   // a model may make up names

SharedString numbered(std::string_view name, int number) {
    const std::string suffix = "-" + std::to_string(number);
    return std::string(name.substr(0, longest_name - suffix.size())) + suffix;
}

SharedString safe_form(const SharedString& call_id) {
    return is_safe_name(call_id) ? call_id : SharedString(to_safe_name(call_id));
}

}  // namespace

/// Longer ones than safe names come only from a state that was made by hand.
std::size_t ObjectNames::CaselessHash::operator()(const SharedString& name) const {
    std::array<char, longest_name> folded;  // NOLINT: written before it is read
    const std::string_view start = name.view().substr(0, longest_name);
    std::ranges::transform(start, folded.begin(), detail::lower);
    return std::hash<std::string_view>()({folded.data(), start.size()});
}

bool ObjectNames::CaselessEqual::operator()(const SharedString& a, const SharedString& b) const noexcept {
    return a.shares_with(b) || std::ranges::equal(a.view(), b.view(), {}, detail::lower, detail::lower);
}

SharedString ObjectNames::assign(const SharedString& call_id) {
    SharedString name = safe_form(call_id);
    const auto [entry, is_free] = taken_.try_emplace(name, 2);
    if (is_free) return name;
    int& next = entry->second;  // stays valid: only iterators are lost in a rehash
    for (;;) {
        SharedString candidate = numbered(name, next);
        const bool is_new = taken_.try_emplace(candidate, 2).second;
        ++next;
        if (is_new) return candidate;
    }
}

void ObjectNames::take(const SharedString& name) { taken_.try_emplace(name, 2); }

void ObjectNames::share_tool(SharedString& tool) {
    if (const auto known = tools_.find(tool); known != tools_.end())
        tool = *known;
    else if (tools_.size() < most_tools)
        tools_.insert(tool);
}

void ObjectNames::assign_to(MessageInfo& info) {
    try {
        assign_each(info);
    } catch (...) {
        release(info);
        throw;
    }
}

void ObjectNames::release(const MessageInfo& info) noexcept {
    for (const PartInfo& part : info.parts) {
        const bool is_own =
            part.kind == PartKind::tool_call || info.round_serial == 0;  // else it is the name of its call
        if (part.key_safe_call_id.empty() || !is_own) continue;
        try {
            const auto base = taken_.find(safe_form(part.call_id));
            if (base != taken_.end()) base->second = 2;  // the next search starts over and finds the same name
            taken_.erase(part.key_safe_call_id);
        } catch (const std::bad_alloc&) {  // a name that stays taken does no harm
        }
    }
}

void ObjectNames::assign_each(MessageInfo& info) {
    std::string_view previous_id;
    SharedString previous_name;
    for (PartInfo& part : info.parts) {
        if (part.kind == PartKind::tool_call) {
            share_tool(part.tool);
            part.key_safe_call_id = assign(part.call_id);
        } else if (is_result_part(part) && part.key_safe_call_id.empty()) {
            const bool same_result = !previous_name.empty() && previous_id == part.call_id && !part.starts_new_result;
            part.key_safe_call_id = same_result ? previous_name : assign(part.call_id);
            previous_id = part.call_id;
            previous_name = part.key_safe_call_id;
        }
    }
}

}  // namespace whittle::inline v0
