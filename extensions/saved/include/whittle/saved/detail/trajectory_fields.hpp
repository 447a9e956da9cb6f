#pragma once

#include "whittle/message/part.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What the provider billed for the call that gave message `message` of a recorded session.
struct RecordedUsage {
    std::size_t message = 0;  ///< index in `Trajectory::messages`
    Usage usage{};            ///< tokens, as the provider told them
    std::string model{};      ///< empty: not recorded for this call

    friend bool operator==(const RecordedUsage&, const RecordedUsage&) = default;
};

}  // namespace whittle::inline v0

namespace whittle::inline v0::detail {

/// A value within an input, for error texts: "sessions.jsonl:17: messages[3].role".
class InputPlace {
public:
    explicit InputPlace(std::string where) : where_(std::move(where)) {}

    [[nodiscard]] InputPlace member(std::string_view key) const {
        return InputPlace(where_, path_.empty() ? std::string(key) : path_ + "." + std::string(key));
    }
    [[nodiscard]] InputPlace element(std::size_t index) const {
        return InputPlace(where_, path_ + "[" + std::to_string(index) + "]");
    }
    [[nodiscard]] std::string text() const { return path_.empty() ? where_ : where_ + ": " + path_; }

    /// Throws Error(parse_failed). `found`: null if there is nothing.
    [[noreturn]] void fail(std::string_view expected, const ordered_json* found) const {
        fail_with(expected, found == nullptr ? "nothing" : found_text(*found));
    }
    [[noreturn]] void fail_with(std::string_view expected, std::string_view found) const {
        throw Error(Errc::parse_failed,
                    text() + ": expected " + std::string(expected) + ", found " + std::string(found));
    }

private:
    InputPlace(std::string where, std::string path) : where_(std::move(where)), path_(std::move(path)) {}

    std::string where_;
    std::string path_{};
};

[[nodiscard]] inline std::optional<std::string> id_of(const InputPlace& where, const ordered_json& json) {
    const ordered_json* id = find_member(json, "id");
    if (id == nullptr || id->is_null()) return std::nullopt;
    if (!id->is_string()) where.member("id").fail("a string", id);
    return id->get<std::string>();
}

/// A string, or text blocks as Anthropic has them, joined by blank lines.
[[nodiscard]] inline std::string system_of(const InputPlace& where, const ordered_json& json) {
    const ordered_json* system = find_member(json, "system");
    if (system == nullptr || system->is_null()) return {};
    if (system->is_string()) return system->get<std::string>();
    if (!system->is_array()) where.member("system").fail("a string", system);
    std::string text;
    for (std::size_t i = 0; i < system->size(); ++i) {
        const auto block = find_string((*system)[i], "text");
        if (!block) where.member("system").element(i).fail("a text block", &(*system)[i]);
        text.append(i == 0 ? "" : "\n\n").append(*block);
    }
    return text;
}

/// OpenAI's {"type":"function","function":{...}}, or the flat form of other interfaces. A tool without a name, such as
/// a server's own, has its type as its name.
[[nodiscard]] inline ToolSpec tool_of(const InputPlace& where, const ordered_json& tool) {
    if (!tool.is_object()) where.fail("an object", &tool);
    const ordered_json* function = find_member(tool, "function");
    const bool is_nested = function != nullptr && function->is_object();
    const ordered_json& fields = is_nested ? *function : tool;
    const InputPlace place = is_nested ? where.member("function") : where;
    const auto name = find_string(fields, "name") ? find_string(fields, "name") : find_string(tool, "type");
    if (!name || (is_nested && !find_string(fields, "name")))
        place.member("name").fail("a string", find_member(fields, "name"));
    ToolSpec spec{.name = std::string(*name),
                  .description = std::string(find_string(fields, "description").value_or(""))};
    for (const char* key : {"parameters", "input_schema"}) {
        const ordered_json* schema = find_member(fields, key);
        if (schema != nullptr && schema->is_object()) spec.parameters = schema->dump();
    }
    return spec;
}

[[nodiscard]] inline std::vector<ToolSpec> tools_of(const InputPlace& where, const ordered_json& json) {
    const ordered_json* tools = find_member(json, "tools");
    std::vector<ToolSpec> specs;
    if (tools == nullptr || tools->is_null()) return specs;
    if (!tools->is_array()) where.member("tools").fail("an array", tools);
    for (const ordered_json& tool : *tools) specs.push_back(tool_of(where.member("tools").element(specs.size()), tool));
    return specs;
}

/// "meta"."t" or "meta"."usage"; null if there is none.
[[nodiscard]] inline const ordered_json* find_meta(const ordered_json& json, const char* key) {
    const ordered_json* meta = find_member(json, "meta");
    const ordered_json* value = meta == nullptr ? nullptr : find_member(*meta, key);
    return value == nullptr || value->is_null() ? nullptr : value;
}

[[nodiscard]] inline std::vector<std::optional<double>> seconds_of(const InputPlace& where, const ordered_json& json,
                                                                   std::size_t messages) {
    std::vector<std::optional<double>> seconds;
    const ordered_json* times = find_meta(json, "t");
    if (times == nullptr) return seconds;
    const InputPlace place = where.member("meta").member("t");
    if (!times->is_array()) place.fail("an array", times);
    if (times->size() != messages) {
        place.fail_with(std::to_string(messages) + " entries, one per message", std::to_string(times->size()));
    }
    for (const ordered_json& time : *times) {
        if (!time.is_null() && !time.is_number()) place.element(seconds.size()).fail("seconds or null", &time);
        seconds.push_back(time.is_null() ? std::nullopt : std::optional(time.get<double>()));
    }
    return seconds;
}

/// A count that fits; real numbers and negative ones do not.
[[nodiscard]] inline std::int64_t count_of(const InputPlace& where, const ordered_json& value) {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX);
    if (fits || (value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() >= 0)) {
        return value.get<std::int64_t>();
    }
    where.fail("a count", &value);
}

/// [message index, input, cache write, cache read, output], and of the writes those for 5 minutes and for an hour where
/// the provider told them.
[[nodiscard]] inline RecordedUsage usage_entry_of(const InputPlace& where, const ordered_json& entry,
                                                  std::size_t messages) {
    std::array<std::int64_t, 7> counts{};
    if (!entry.is_array() || (entry.size() != 5 && entry.size() != counts.size()))
        where.fail("[message, input, cache write, cache read, output]", &entry);
    for (std::size_t i = 0; i < entry.size(); ++i) counts[i] = count_of(where.element(i), entry[i]);
    if (static_cast<std::uint64_t>(counts[0]) >= messages) where.element(0).fail("the index of a message", &entry[0]);
    const Usage usage{
        .uncached_input = counts[1], .cache_read = counts[3], .cache_write = counts[2], .output = counts[4]};
    return {.message = static_cast<std::size_t>(counts[0]), .usage = usage.with_lifetimes(counts[5], counts[6])};
}

[[nodiscard]] inline std::vector<RecordedUsage> usage_of(const InputPlace& where, const ordered_json& json,
                                                         std::size_t messages) {
    std::vector<RecordedUsage> usage;
    const ordered_json* entries = find_meta(json, "usage");
    if (entries == nullptr) return usage;
    const InputPlace place = where.member("meta").member("usage");
    if (!entries->is_array()) place.fail("an array", entries);
    for (const ordered_json& entry : *entries) {
        usage.push_back(usage_entry_of(place.element(usage.size()), entry, messages));
    }
    return usage;
}

[[nodiscard]] inline ordered_json to_openai_tools(const std::vector<ToolSpec>& tools) {
    ordered_json list = ordered_json::array();
    for (const ToolSpec& tool : tools) {
        ordered_json function{{"name", tool.name}};
        if (!tool.description.empty()) function["description"] = tool.description;
        function["parameters"] =
            parse_json("write the parameters of tool " + clip_for_error(tool.name), tool.parameters);
        ordered_json entry{{"type", "function"}};
        entry["function"] = std::move(function);
        list.push_back(std::move(entry));
    }
    return list;
}

/// Takes out what the fields of a Trajectory hold entirely. `system` and `tools` stay if they say more.
inline void drop_known_members(ordered_json& json, const std::string& system, const std::vector<ToolSpec>& tools) {
    json.erase("id");
    json.erase("messages");
    if (const auto* text = find_member(json, "system"); text != nullptr && *text == ordered_json(system))
        json.erase("system");
    if (const auto* list = find_member(json, "tools"); list != nullptr && *list == to_openai_tools(tools))
        json.erase("tools");
}

inline void put_system(ordered_json& line, const ordered_json& rest, const std::string& system) {
    const InputPlace here("write a trajectory");
    if (rest.contains("system") && system_of(here, rest) == system) {
        line["system"] = rest["system"];
    } else if (!system.empty()) {
        line["system"] = system;
    }
}

/// As they were recorded while they still say the same.
inline void put_tools(ordered_json& line, const ordered_json& rest, const std::vector<ToolSpec>& tools) {
    const InputPlace here("write a trajectory");
    if (rest.contains("tools") && tools_of(here, rest) == tools) {
        line["tools"] = rest["tools"];
    } else if (!tools.empty()) {
        line["tools"] = to_openai_tools(tools);
    }
}

inline void put_rest(ordered_json& line, const ordered_json& rest) {
    for (const auto& [key, value] : rest.items()) {
        if (key != "id" && key != "system" && key != "tools" && key != "messages") line[key] = value;
    }
}

/// The object "meta"; null if that is taken by something else.
[[nodiscard]] inline ordered_json* meta_to_write(ordered_json& line) {
    ordered_json& meta = line["meta"];
    if (meta.is_null()) meta = ordered_json::object();
    return meta.is_object() ? &meta : nullptr;
}

inline void put_seconds(ordered_json& line, const std::vector<std::optional<double>>& seconds) {
    const InputPlace here("write a trajectory");
    if (seconds.empty() && find_meta(line, "t") == nullptr) return;
    const ordered_json* written = find_meta(line, "t");
    if (written != nullptr && written->size() == seconds.size() && seconds_of(here, line, seconds.size()) == seconds)
        return;
    ordered_json* meta = meta_to_write(line);
    if (meta == nullptr) return;
    ordered_json times = ordered_json::array();
    for (const auto& time : seconds) times.push_back(time ? ordered_json(*time) : ordered_json(nullptr));
    (*meta)["t"] = seconds.empty() ? ordered_json(nullptr) : std::move(times);
}

inline void put_usage(ordered_json& line, const std::vector<RecordedUsage>& usage) {
    const InputPlace here("write a trajectory");
    const auto is_same = [](const RecordedUsage& a, const RecordedUsage& b) {  // models are not written
        return a.message == b.message && a.usage == b.usage;
    };
    if (std::ranges::equal(usage_of(here, line, SIZE_MAX), usage, is_same)) return;
    ordered_json* meta = meta_to_write(line);
    if (meta == nullptr) return;
    ordered_json entries = ordered_json::array();
    for (const auto& [message, u, model] : usage) {
        ordered_json& entry = entries.emplace_back(
            ordered_json::array({message, u.uncached_input, u.cache_write, u.cache_read, u.output}));
        if (u.cache_write_5m == 0 && u.cache_write_1h == 0) continue;
        entry.push_back(u.cache_write_5m);
        entry.push_back(u.cache_write_1h);
    }
    (*meta)["usage"] = std::move(entries);
}

}  // namespace whittle::inline v0::detail
