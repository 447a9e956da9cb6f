#include "openai_form.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "traced_calls.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// A value of OTLP's JSON: {"stringValue": ...}, {"intValue": "12"}, {"arrayValue": {"values": [...]}},
/// {"kvlistValue": {"values": [{"key", "value"}]}}. Text that is JSON is read, since attributes hold it so.
class OtlpValue {
public:
    OtlpValue(const LogOptions& options, LogNotes& notes) : options_(options), notes_(notes) {}

    [[nodiscard]] ordered_json operator()(const ordered_json& value, int depth = 0) const {
        constexpr int deepest = 60;
        if (!value.is_object() || depth > deepest) return nullptr;
        if (const ordered_json* text = find_member(value, "stringValue")) return *text;
        if (const ordered_json* number = find_member(value, "intValue")) return to_number(*number);
        for (const char* plain : {"doubleValue", "boolValue"}) {
            if (const ordered_json* one = find_member(value, plain)) return *one;
        }
        if (const ordered_json* list = tree_at(value, "arrayValue")) return list_of(*list, depth);
        if (const ordered_json* map = tree_at(value, "kvlistValue")) return map_of(*map, depth);
        return nullptr;
    }

    /// Messages as attributes hold them: as a structure, or as JSON in a text.
    [[nodiscard]] ordered_json tree(const ordered_json& value) const {
        if (!value.is_string()) return value;
        LogNotes ignored;
        auto parsed = parse_record(value.get_ref<const std::string&>(), 1, options_, ignored);
        if (!parsed) ++notes_.unknown["attribute that is no JSON"];
        return parsed ? *std::move(parsed) : ordered_json(nullptr);
    }

private:
    /// 64-bit numbers are texts in JSON.
    static ordered_json to_number(const ordered_json& value) {
        if (value.is_number_integer()) return value;
        if (!value.is_string()) return nullptr;
        std::int64_t number = 0;
        const std::string& text = value.get_ref<const std::string&>();
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size() ? ordered_json(number) : ordered_json(nullptr);
    }
    [[nodiscard]] ordered_json list_of(const ordered_json& list, int depth) const {
        ordered_json out = ordered_json::array();
        const ordered_json* values = tree_at(list, "values");
        if (values == nullptr || !values->is_array()) return out;
        for (const ordered_json& one : *values) out.push_back((*this)(one, depth + 1));
        return out;
    }
    [[nodiscard]] ordered_json map_of(const ordered_json& map, int depth) const {
        ordered_json out = ordered_json::object();
        const ordered_json* values = tree_at(map, "values");
        if (values == nullptr || !values->is_array()) return out;
        for (const ordered_json& one : *values) {
            const ordered_json* inner = find_member(one, "value");
            if (inner != nullptr) out[std::string(text_at(one, "key"))] = (*this)(*inner, depth + 1);
        }
        return out;
    }

    const LogOptions& options_;
    LogNotes& notes_;
};

std::string content_text(const ordered_json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_null() ? "" : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// {"role", "parts": [{"type": "text", "content"}, {"type": "tool_call", "id", "name", "arguments"},
/// {"type": "tool_call_response", "id", "response"}]} as chat messages: each response is one of its own.
void append_messages(const ordered_json& recorded, ordered_json& messages, LogNotes& notes) {
    const ordered_json* parts = tree_at(recorded, "parts");
    if (parts == nullptr || !parts->is_array()) {
        ++notes.unknown["message without parts"];
        return;
    }
    const std::string_view role = text_at(recorded, "role");
    ReplyParts said;
    for (const ordered_json& part : *parts) {
        const std::string_view type = text_at(part, "type");
        const ordered_json* content = find_member(part, "content");
        if (type == "text" && content != nullptr) {
            said.say(content_text(*content));
        } else if (type == "tool_call") {
            const ordered_json* arguments = find_member(part, "arguments");
            said.call(openai_call(text_at(part, "id"), text_at(part, "name"),
                                  arguments == nullptr ? "{}" : content_text(*arguments)));
        } else if (type == "tool_call_response") {
            const ordered_json* response = find_member(part, "response");
            if (response == nullptr) response = find_member(part, "result");
            messages.push_back(
                openai_result(text_at(part, "id"), response == nullptr ? std::string() : content_text(*response)));
        } else {
            ++(type == "reasoning" ? notes.left_out : notes.unknown)["part/" + std::string(type.substr(0, 64))];
        }
    }
    if (said.empty()) return;
    ordered_json message = said.message();
    if (role != "assistant") message = {{"role", role}, {"content", message["content"]}};
    messages.push_back(std::move(message));
}

ordered_json messages_in(const ordered_json& list, LogNotes& notes) {
    ordered_json messages = ordered_json::array();
    if (!list.is_array()) return messages;
    for (const ordered_json& recorded : list) append_messages(recorded, messages, notes);
    return messages;
}

std::int64_t nanos_at(const ordered_json& span, const char* key) {
    const std::string_view text = text_at(span, key);
    std::int64_t nanos = 0;
    std::from_chars(text.data(), text.data() + text.size(), nanos);
    return text.empty() ? count_at(span, key) : nanos;
}

class OtelLog {
public:
    OtelLog(const LogOptions& options, LogNotes& notes) : value_(options, notes), notes_(notes) {}

    void add(const ordered_json& record) {
        each(record, "resourceSpans", [&](const ordered_json& resource) {
            each(resource, "scopeSpans", [&](const ordered_json& scope) {
                each(scope, "spans", [&](const ordered_json& span) { add_span(span); });
            });
        });
    }

    void finish(ExchangeList&& list, VisitSession visit) { calls_.finish(std::move(list), visit); }

private:
    template <typename Visit>
    static void each(const ordered_json& holder, const char* key, const Visit& visit) {
        const ordered_json* list = tree_at(holder, key);
        if (list == nullptr || !list->is_array()) return;
        for (const ordered_json& one : *list) visit(one);
    }

    void add_span(const ordered_json& span) {
        std::map<std::string, ordered_json> attributes;
        each(span, "attributes", [&](const ordered_json& one) {
            const ordered_json* value = find_member(one, "value");
            if (value != nullptr) attributes[std::string(text_at(one, "key"))] = value_(*value);
        });
        const auto input = attributes.find("gen_ai.input.messages");
        if (input == attributes.end()) {
            ++notes_.left_out["span without gen_ai.input.messages"];
            return;
        }
        TracedCall call{.time = static_cast<double>(nanos_at(span, "startTimeUnixNano")) / 1e9};
        call.request = {{"messages", messages_in(value_.tree(input->second), notes_)}};
        call.request["model"] = attributes["gen_ai.request.model"];
        ordered_json instructions = ordered_json::array(
            {{{"role", "system"}, {"parts", value_.tree(attributes["gen_ai.system_instructions"])}}});
        if (attributes["gen_ai.system_instructions"].is_null()) instructions = nullptr;
        for (const ordered_json& system : messages_in(instructions, notes_)) call.request["system"] = system["content"];
        call.response = response_of(attributes);
        call.usage = usage_of(attributes);
        calls_.add(std::move(call));
    }

    ordered_json response_of(std::map<std::string, ordered_json>& attributes) {
        ordered_json response{{"id", attributes["gen_ai.response.id"]}, {"model", attributes["gen_ai.response.model"]}};
        const ordered_json output = messages_in(value_.tree(attributes["gen_ai.output.messages"]), notes_);
        response["choices"] = ordered_json::array();
        if (!output.empty()) response["choices"].push_back({{"message", output.front()}});
        return response;
    }

    static std::optional<Usage> usage_of(std::map<std::string, ordered_json>& attributes) {
        const ordered_json counts{{"sum", attributes["gen_ai.usage.input_tokens"]},
                                  {"read", attributes["gen_ai.usage.cache_read.input_tokens"]},
                                  {"written", attributes["gen_ai.usage.cache_creation.input_tokens"]},
                                  {"output", attributes["gen_ai.usage.output_tokens"]}};
        if (counts["sum"].is_null() && counts["output"].is_null()) return std::nullopt;
        return usage_of_sums(count_at(counts, "sum"), count_at(counts, "read"), count_at(counts, "written"),
                             count_at(counts, "output"));
    }

    OtlpValue value_;
    LogNotes& notes_;
    TracedCalls calls_{};
};

}  // namespace

void read_otel(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    OtelLog log(options, notes);
    while (const auto record = records.next_or_document()) log.add(*record);
    log.finish(ExchangeList(stem_of(options), Format::otel, notes), visit);
}

}  // namespace whittle::inline v0::logs
