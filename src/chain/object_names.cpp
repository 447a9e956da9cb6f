#include "whittle/chain/object_names.hpp"

#include "whittle/base/names.hpp"
#include "whittle/base/text.hpp"

#include <new>
#include <utility>

namespace whittle::inline v0 {

namespace {

constexpr std::size_t longest_name = 64;

std::string numbered(std::string_view name, int number) {
    const std::string suffix = "-" + std::to_string(number);
    return std::string(name.substr(0, longest_name - suffix.size())) + suffix;
}

}  // namespace

std::string ObjectNames::assign(std::string_view call_id) {
    const std::string name = to_safe_name(call_id);
    const auto [entry, is_free] = taken_.try_emplace(ascii_lower(name), 2);
    if (is_free) return name;
    int& next = entry->second;  // stays valid: only iterators are lost in a rehash
    for (;;) {
        std::string candidate = numbered(name, next);
        const bool is_new = taken_.try_emplace(ascii_lower(candidate), 2).second;
        ++next;
        if (is_new) return candidate;
    }
}

void ObjectNames::take(std::string_view name) { taken_.try_emplace(ascii_lower(name), 2); }

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
        const bool is_own = part.kind == PartKind::tool_call || info.group == 0;  // else it is the name of its call
        if (part.object_name.empty() || !is_own) continue;
        try {
            const auto base = taken_.find(ascii_lower(to_safe_name(part.call_id)));
            if (base != taken_.end()) base->second = 2;  // the next search starts over and finds the same name
            taken_.erase(ascii_lower(part.object_name));
        } catch (const std::bad_alloc&) {  // a name that stays taken does no harm
        }
    }
}

void ObjectNames::assign_each(MessageInfo& info) {
    std::string_view previous_id;
    std::string previous_name;
    for (PartInfo& part : info.parts) {
        const bool is_result =
            part.kind == PartKind::tool_result || (part.kind == PartKind::media && !part.call_id.empty());
        if (part.kind == PartKind::tool_call) {
            part.object_name = assign(part.call_id);
        } else if (is_result && part.object_name.empty()) {
            const bool same_result = !previous_name.empty() && previous_id == part.call_id;
            part.object_name = same_result ? previous_name : assign(part.call_id);
            previous_id = part.call_id;
            previous_name = part.object_name;
        }
    }
}

}  // namespace whittle::inline v0
