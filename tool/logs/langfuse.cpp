// Sources of the format of Langfuse: `fern/apis/server/definition/commons.yml`
// (https://github.com/langfuse/langfuse/blob/main/fern/apis/server/definition/commons.yml) (`Observation`,
// `TraceWithFullDetails`), `buildTraceExport.ts`, and `OtelIngestionProcessor.ts` for what is part of what, at commit
// `6275144` (2026-08-22); for LangChain `langfuse/langchain/CallbackHandler.py`
// (https://github.com/langfuse/langfuse-python/blob/main/langfuse/langchain/CallbackHandler.py)
// (`_convert_message_to_dict`, `__on_llm_action`, `_parse_usage_model`) and for OpenAI's client `langfuse/openai.py`
// (`_extract_responses_prompt`, `_extract_response_api_completion`) at commit `c3c6a09` (2026-08-06); for CSV
// `transformStreamToCsv.ts`, `stringify.ts` and `observation-stream.ts` there, and RFC 4180
// (https://www.rfc-editor.org/rfc/rfc4180) (2026-11-26).
#include "csv_rows.hpp"
#include "langchain_form.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "responses_form.hpp"
#include "traced_calls.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// A member by its name in exports of the interface, else by that in tables.
const ordered_json* member_of(const ordered_json& value, const char* camel, const char* snake) {
    const ordered_json* member = find_member(value, camel);
    return member == nullptr || member->is_null() ? find_member(value, snake) : member;
}

std::string_view text_of(const ordered_json& value, const char* camel, const char* snake) {
    const std::string_view text = text_at(value, camel);
    return text.empty() ? text_at(value, snake) : text;
}

/// Blocks of a reply of Anthropic, without the message around them.
bool are_reply_blocks(const ordered_json& output) {
    constexpr std::array<std::string_view, 4> types{"text", "tool_use", "thinking", "redacted_thinking"};
    return output.is_array() && !output.empty() && std::ranges::all_of(output, [&](const ordered_json& block) {
               return std::ranges::find(types, text_at(block, "type")) != types.end() && text_at(block, "role").empty();
           });
}

/// "usageDetails": counts by name. Most stand beside each other; what was written to the cache by its age may be the
/// parts of the plain count, and those of the priority tier are part of the others. The total tells whether the input
/// holds what the cache did, and the output what else is told of it, as some gateways write them.
class LangfuseUsage {
public:
    explicit LangfuseUsage(LogNotes& notes) : notes_(notes) {}

    [[nodiscard]] std::optional<Usage> operator()(const ordered_json& details) {
        for (const auto& [name, value] : details.items()) {
            if (name == "unit" || name.ends_with("Cost") || !value.is_number_integer()) continue;
            if (name.starts_with("total")) {
                total_ = count_in(value);
                continue;
            }
            std::int64_t* const count = counter_of(name);
            if (count == nullptr) {
                ++notes_.unknown["usage/" + name.substr(0, 64)];
                continue;
            }
            *count = add_saturating(*count, count_in(value));
            if (count == &sum_.output && name != "output" && !name.starts_with("completion"))
                of_output_ = add_saturating(of_output_, count_in(value));
            if (count == &sum_.cache_write || count == &written_by_age_) take_lifetime(name, count_in(value));
            has_counts_ = true;
        }
        if (!has_counts_) return std::nullopt;
        Usage usage = sum_;
        usage.uncached_input -= std::min(usage.uncached_input, priority_read_);
        usage.cache_read = add_saturating(usage.cache_read, priority_read_);
        usage.cache_write = std::max(usage.cache_write, written_by_age_);
        Usage whole = usage;  // if the plain output holds what else is told of it
        whole.output -= of_output_;
        if (!is_total_of(usage, total_) && is_total_of(whole, total_)) usage = whole;
        return usage_by_total(usage.with_lifetimes(five_minutes_, hour_), total_, CachePlace::outside_input);
    }

private:
    void take_lifetime(std::string_view name, std::int64_t count) {
        const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
        if (has("_5m")) five_minutes_ = add_saturating(five_minutes_, count);
        if (has("_1h")) hour_ = add_saturating(hour_, count);
    }

    std::int64_t* counter_of(std::string_view name) {
        const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
        if (has("_priority")) return has("cache_read") ? &priority_read_ : &of_priority_;
        if (has("ephemeral")) return &written_by_age_;
        if (has("cache")) return has("creation") || has("write") ? &sum_.cache_write : &sum_.cache_read;
        if (name.starts_with("input") || name.starts_with("prompt")) return &sum_.uncached_input;
        return name.starts_with("output") || name.starts_with("completion") ? &sum_.output : nullptr;
    }

    LogNotes& notes_;
    Usage sum_{};
    std::int64_t total_ = 0;
    std::int64_t of_output_ = 0;  // such as reasoning
    std::int64_t written_by_age_ = 0;
    std::int64_t five_minutes_ = 0;  // of what was written, and
    std::int64_t hour_ = 0;
    std::int64_t priority_read_ = 0;
    std::int64_t of_priority_ = 0;  // counted elsewhere too
    bool has_counts_ = false;
};

/// Traces and observations of Langfuse.
class LangfuseLog {
public:
    LangfuseLog(Format format, const LogOptions& options, LogNotes& notes)
        : format_(format), options_(options), notes_(notes) {}

    void add(const ordered_json& record, std::size_t line) {
        bool is_holder = false;
        for (const char* key : {"observations", "data"}) {
            const ordered_json* list = tree_at(record, key);
            if (list == nullptr || !list->is_array()) continue;
            is_holder = true;
            for (const ordered_json& one : *list) add_observation(one, line);
        }
        if (!is_holder) add_observation(record, line);
    }

    void finish(VisitSession visit) {
        if (const std::int64_t inner = calls_.leave_out_inner(); inner > 0)
            notes_.left_out["generation within one of the same call"] += inner;
        calls_.finish(ExchangeList(stem_of(options_), format_, notes_), "generation without messages", notes_, visit);
    }

private:
    void add_observation(const ordered_json& one, std::size_t line) {
        if (one.is_string()) {
            ++notes_.left_out["observation that is only named"];
            return;
        }
        const std::string_view type = text_at(one, "type");
        if (type.empty()) return note_damage(notes_, line, "an observation without a type");
        const std::string id(text_at(one, "id"));
        if (!id.empty() && !ids_.insert(id).second) {
            ++notes_.left_out["repeated observation"];
            return;
        }
        if (type != "GENERATION") {
            ++notes_.left_out["observation/" + std::string(type.substr(0, 64))];
            return;
        }
        add_generation(one, id, line);
    }

    void add_generation(const ordered_json& one, const std::string& id, std::size_t line) {
        const auto [input, output] = bodies_of_items(tree_of(one, "input", line), tree_of(one, "output", line));
        const bool is_of_responses = is_responses_request(input, output);
        TracedCall call{.time = to_seconds(text_of(one, "startTime", "start_time")),
                        .line = line,
                        .has_failed = text_at(one, "level") == "ERROR",
                        .id = id,
                        .parent = std::string(text_of(one, "parentObservationId", "parent_observation_id")),
                        .group = std::string(text_of(one, "traceId", "trace_id"))};
        if (is_of_responses) {
            call.request = to_chat_request(input, notes_);
        } else if (ordered_json messages = messages_of_input(input, notes_); !messages.is_null()) {
            call.request["messages"] = std::move(messages);
            if (ordered_json tools = tools_among_messages(input); !tools.is_null())
                call.request["tools"] = std::move(tools);
            for (const char* key : {"system", "tools"}) {
                const ordered_json* value = find_member(input, key);
                if (value != nullptr && !value->is_null()) call.request[key] = *value;
            }
        }
        std::string_view model = text_of(one, "model", "provided_model_name");
        if (model.empty()) model = text_at(one, "providedModelName");
        call.usage = usage_of(one, line);
        if (call.request.is_null()) {  // masked, cut or not recorded
            call.response = {{"id", id}, {"model", model}};
            return calls_.add(std::move(call));
        }
        call.request["model"] = model;
        call.response =
            is_of_responses && output.is_object() ? to_chat_response(output, notes_) : response_of(output, input);
        if (text_at(call.response, "id").empty()) call.response["id"] = id;
        calls_.add(std::move(call));
    }

    ordered_json response_of(const ordered_json& output, const ordered_json& input) {
        ordered_json response = ordered_json::object();
        ordered_json reply;
        if (output.is_string() || are_reply_blocks(output)) {
            reply = {{"role", "assistant"}, {"content", output}};
        } else if (const ordered_json* recorded = reply_of_output(output)) {
            reply = to_chat_reply(*recorded, input, notes_);
            response["id"] = text_at(output, "id");
        }
        if (!reply.is_null()) response["choices"] = ordered_json::array({{{"message", std::move(reply)}}});
        return response;
    }

    std::optional<Usage> usage_of(const ordered_json& one, std::size_t line) {
        for (const auto& [camel, snake] : {std::pair{"usageDetails", "usage_details"}, std::pair{"usage", "usage"}}) {
            const ordered_json* named = member_of(one, camel, snake);
            if (named == nullptr) continue;
            const ordered_json details = parsed(*named, line);
            if (!details.is_object()) continue;
            if (const auto usage = LangfuseUsage(notes_)(details)) return usage;
        }
        return std::nullopt;
    }

    ordered_json tree_of(const ordered_json& one, const char* key, std::size_t line) {
        const ordered_json* value = find_member(one, key);
        return value == nullptr ? ordered_json(nullptr) : parsed(*value, line);
    }

    /// The value, or what its text holds where that is an object or an array.
    ordered_json parsed(const ordered_json& value, std::size_t line) {
        if (!value.is_string()) return value;
        const std::string& text = value.get_ref<const std::string&>();
        const std::size_t first = text.find_first_not_of(" \t\r\n");
        if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return value;
        return json_in(value, line, options_, notes_, values_).value_or(value);
    }

    Format format_;
    const LogOptions& options_;
    LogNotes& notes_;
    std::unordered_set<std::string> ids_{};
    TracedCalls calls_{};
    ValueBudget values_{};  // in texts
};

/// What is no text in the interface, such as a time, stands in a cell as JSON; older exports wrote texts so too.
void unquote(ordered_json& row, std::size_t line, const LogOptions& options, LogNotes& notes, ValueBudget& values) {
    for (ordered_json& cell : row) {
        if (!cell.get_ref<const std::string&>().starts_with('"')) continue;
        if (auto value = json_in(cell, line, options, notes, values); value && value->is_string())
            cell = *std::move(value);
    }
}

}  // namespace

void read_langfuse(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    LangfuseLog log(Format::langfuse, options, notes);
    each_record(in, options, notes, [&](const ordered_json& record, std::size_t line) { log.add(record, line); });
    log.finish(visit);
}

void read_langfuse_csv(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    LangfuseLog log(Format::langfuse_csv, options, notes);
    CsvRows rows(in, options, notes);
    ValueBudget values;
    while (auto row = rows.next()) {
        unquote(*row, rows.line(), options, notes, values);
        log.add(*row, rows.line());
    }
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
