#pragma once

#include "whittle/message/outline.hpp"

#include <cstddef>
#include <span>

namespace whittle::inline v0::detail {

/// The part of `old` that is gone if `now` parts are left after an edit of part `edited`; the number of parts if none
/// is. Text that was set in place of a result's media takes away the empty part that stood for its missing text.
[[nodiscard]] std::size_t find_gone(std::span<const PartInfo> old, std::size_t now, std::size_t edited,
                                    bool is_text_set);
/// `info` describes a message anew after its content changed: gives it what was known of it as `old`, whose parts
/// `gone`, ascending and each once, are not in it.
void keep_known(MessageInfo& info, const MessageInfo& old, std::span<const std::size_t> gone);
/// `part` is described anew after its text changed: keeps what was known of it beside its content.
void describe_anew(PartInfo& part, const PartView& shown);

}  // namespace whittle::inline v0::detail
