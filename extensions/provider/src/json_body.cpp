#include "whittle/provider/detail/json_body.hpp"

#include "whittle/base/text.hpp"
#include "whittle/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace whittle::inline v0::detail {

namespace {

ordered_json read_object(std::string_view text) {
    try {
        ordered_json object = parse_json("read the extra fields", text, {.max_depth = max_message_depth});
        if (object.is_object()) return object;
        refuse_request(fmt::format("the extra fields are {}, not an object", found_text(object)));
    } catch (const ModelError&) {
        throw;
    } catch (const Error& error) {
        refuse_request(error.what());
    }
}

}  // namespace

void refuse_request(const std::string& reason) {
    throw ModelError(ModelErrorClass::bad_request, fmt::format("make the request: {}", reason));
}

ordered_json read_extra(std::string_view text, std::span<const std::string_view> reserved) {
    ordered_json fields = is_blank(text) ? ordered_json::object() : read_object(text);
    for (const std::string_view name : reserved) {
        if (fields.contains(name)) refuse_request(fmt::format("the extra fields cannot set \"{}\"", name));
    }
    return fields;
}

void merge_fields(ordered_json& fields, ordered_json&& more) {
    for (auto& [key, value] : more.items()) {
        ordered_json& target = fields[key];
        if (key == "tools" && target.is_array() && value.is_array()) {
            for (ordered_json& tool : value) target.push_back(std::move(tool));
        } else {
            target = std::move(value);
        }
    }
}

std::string_view parameters_of(const ToolSpec& tool) {
    if (!is_json_object(tool.parameters))
        refuse_request(fmt::format("the parameters of the tool \"{}\" are no JSON object", clip_for_error(tool.name)));
    return tool.parameters;
}

std::string quoted(std::string_view text) { return render(ordered_json(text)); }

void add_name(std::string& body, std::string_view name) {
    if (!body.ends_with('{')) body += ',';
    body += quoted(name);
    body += ':';
}

void add_list(std::string& body, std::string_view name, const std::vector<std::string>& items) {
    add_name(body, name);
    body += '[';
    for (const std::string& item : items) {
        if (!body.ends_with('[')) body += ',';
        body += item;
    }
    body += ']';
}

void take_tools(ordered_json& fields, std::vector<std::string>& tools) {
    const auto found = fields.find("tools");
    if (found == fields.end()) return;
    if (!found->is_array()) refuse_request("\"tools\" among the extra fields is no array");
    for (const ordered_json& tool : *found) tools.push_back(render(tool));
    fields.erase(found);
}

std::int64_t count_member(const ordered_json& value, const char* key) {
    const ordered_json* member = find_member(value, key);
    if (member == nullptr || !member->is_number_integer()) return 0;
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (member->is_number_unsigned() && member->get<std::uint64_t>() > most) return 0;
    return std::max<std::int64_t>(0, member->get<std::int64_t>());
}

}  // namespace whittle::inline v0::detail
