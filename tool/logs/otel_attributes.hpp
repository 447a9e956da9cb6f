#pragma once

#include "entries.hpp"

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::logs {

/// Attributes of OTLP by their keys, values as plain JSON.
using OtelAttributes = std::map<std::string, ordered_json, std::less<>>;

/// Those of a span, of an event or of a log record.
[[nodiscard]] OtelAttributes otel_attributes_of(const ordered_json& holder);

/// The first of these that is there and not null; else null.
[[nodiscard]] const ordered_json* first_attribute(const OtelAttributes& attributes,
                                                  std::initializer_list<std::string_view> keys);
/// The same if it is a string, else "".
[[nodiscard]] std::string_view first_attribute_text(const OtelAttributes& attributes,
                                                    std::initializer_list<std::string_view> keys);

/// What stands under "prefix.0.", "prefix.1." and so on, a tree each: "a.b" is "b" within "a".
[[nodiscard]] std::vector<ordered_json> indexed_attributes(const OtelAttributes& attributes, std::string_view prefix);

}  // namespace whittle::inline v0::logs
