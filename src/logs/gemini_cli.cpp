#include "openai_form.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/adapter/detail/json_text.hpp"
#include "whittle/adapter/detail/json_tree.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

std::string dumped(const ordered_json& value) {
    return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// The text of a part list: a string, a part, or an array of both.
std::string text_of_parts(const ordered_json& parts, LogNotes& notes) {
    if (parts.is_string()) return parts.get<std::string>();
    if (parts.is_object()) return text_of_parts(ordered_json::array({parts}), notes);
    std::string text;
    if (!parts.is_array()) return text;
    for (const ordered_json& part : parts) {
        const std::string piece = part.is_string() ? part.get<std::string>() : std::string(text_at(part, "text"));
        if (!piece.empty() && !is_set(part, "thought")) text.append(text.empty() ? "" : "\n").append(piece);
        for (const char* media : {"inlineData", "fileData"}) {
            if (part.is_object() && part.contains(media)) ++notes.left_out[media];
        }
    }
    return text;
}

/// What a function's response says: its "output", or all of it.
ordered_json text_of_response(const ordered_json& function_response) {
    const ordered_json* response = find_member(function_response, "response");
    if (response == nullptr) return "";
    for (const char* key : {"output", "error"}) {
        if (const ordered_json* text = find_member(*response, key); text != nullptr && text->is_string()) return *text;
    }
    return dumped(*response);
}

std::string text_of_result(const ordered_json& result, LogNotes& notes) {
    const ordered_json parts = result.is_array() ? result : ordered_json::array({result});
    std::string text;
    for (const ordered_json& part : parts) {
        const ordered_json* response = tree_at(part, "functionResponse");
        const std::string piece =
            response == nullptr ? text_of_parts(part, notes) : text_of_response(*response).get<std::string>();
        text.append(text.empty() || piece.empty() ? "" : "\n").append(piece);
    }
    return text;
}

bool holds_only_responses(const ordered_json& content) {
    return content.is_array() && !content.empty() && std::ranges::all_of(content, [](const ordered_json& part) {
               return part.is_object() && part.contains("functionResponse");
           });
}

std::optional<Usage> gemini_usage(const ordered_json& message) {
    const ordered_json* tokens = tree_at(message, "tokens");
    if (tokens == nullptr) return std::nullopt;
    const std::int64_t input = count_at(*tokens, "input");
    const std::int64_t cached = std::min(input, count_at(*tokens, "cached"));
    return Usage{.input = add_saturating(input - cached, count_at(*tokens, "tool")),
                 .cache_read = cached,
                 .cache_write = 0,
                 .output = add_saturating(count_at(*tokens, "output"), count_at(*tokens, "thoughts"))};
}

/// A message as the agent recorded it.
struct GeminiRecord {
    ordered_json message{};
    std::size_t line = 0;
};

void add_reply(const GeminiRecord& record, Entries& entries, LogNotes& notes) {
    const ordered_json& message = record.message;
    const auto time = to_seconds(text_at(message, "timestamp"));
    ReplyParts parts;
    if (const ordered_json* content = find_member(message, "content")) parts.say(text_of_parts(*content, notes));
    const ordered_json* calls = tree_at(message, "toolCalls");
    const ordered_json none = ordered_json::array();
    for (const ordered_json& call : calls == nullptr ? none : *calls) {
        const ordered_json* args = tree_at(call, "args");
        parts.call(openai_call(text_at(call, "id"), text_at(call, "name"), args == nullptr ? "{}" : dumped(*args)));
    }
    constexpr std::size_t least_unique = 32;  // shorter ids, such as a number, are of this file alone
    const std::string_view id = text_at(message, "id");
    entries.add({.message = parts.message(),
                 .time = time,
                 .line = record.line,
                 .call = Call{.bill_id = id.size() < least_unique ? "" : "gemini_cli/" + std::string(id),
                              .model = std::string(text_at(message, "model")),
                              .usage = gemini_usage(message)}});
    for (const ordered_json& call : calls == nullptr ? none : *calls) {
        const ordered_json* result = find_member(call, "result");
        if (result == nullptr || result->is_null()) continue;
        const auto came = to_seconds(text_at(call, "timestamp"));
        entries.add({.message = openai_result(text_at(call, "id"), text_of_result(*result, notes)),
                     .time = came ? came : time,
                     .line = record.line,
                     .call = std::nullopt});
    }
}

void add_message(const GeminiRecord& record, Entries& entries, LogNotes& notes) {
    const std::string_view type = text_at(record.message, "type");
    if (type == "gemini") return add_reply(record, entries, notes);
    if (type != "user") {
        const bool is_known = type == "info" || type == "error" || type == "warning";
        ++(is_known ? notes.left_out : notes.unknown)[std::string(type.substr(0, 64))];
        return;
    }
    const ordered_json* content = find_member(record.message, "content");
    if (content == nullptr || holds_only_responses(*content)) return;  // they are results of the call's record
    entries.add({.message = {{"role", "user"}, {"content", text_of_parts(*content, notes)}},
                 .time = to_seconds(text_at(record.message, "timestamp")),
                 .line = record.line,
                 .call = std::nullopt});
}

class GeminiLog {
public:
    GeminiLog(const LogOptions& options, LogNotes& notes) : notes_(notes) { session_.recording.id = stem_of(options); }

    void add(const ordered_json& record, std::size_t line) {
        if (const std::string_view to = text_at(record, "$rewindTo"); !to.empty()) return rewind(to);
        if (const ordered_json* set = tree_at(record, "$set")) return take_facts(*set, line);
        if (!text_at(record, "id").empty()) return put({record, line});
        if (!text_at(record, "sessionId").empty()) return take_facts(record, line);
        ++notes_.unknown["record"];
    }

    void finish(VisitSession visit) {
        flush();
        entries_.finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    /// A message is written again, with the same id, whenever something of it comes.
    void put(GeminiRecord record) {
        const std::string id(text_at(record.message, "id"));
        if (kept_.contains(id)) return;  // it is in front of a compaction
        const auto [known, is_new] = at_.try_emplace(id, records_.size());
        if (is_new) {
            records_.push_back(std::move(record));
        } else {
            records_[known->second] = std::move(record);
        }
    }

    void rewind(std::string_view id) {
        const auto known = at_.find(std::string(id));
        const std::size_t size = known == at_.end() ? 0 : known->second;
        for (std::size_t i = size; i < records_.size(); ++i) {
            if (const auto usage = gemini_usage(records_[i].message)) entries_.bill_elsewhere(*usage);
        }
        records_.resize(size);
        std::erase_if(at_, [&](const auto& one) { return one.second >= size; });
        if (known == at_.end() && size == 0) entries_.truncate(0);
    }

    void take_facts(const ordered_json& facts, std::size_t line) {
        if (const std::string_view id = text_at(facts, "sessionId"); !id.empty()) session_.recording.id = id;
        if (const ordered_json* messages = tree_at(facts, "messages"); messages != nullptr && messages->is_array())
            replace(*messages, line);
    }

    /// All messages at once: a session in one document, or what the agent goes on with when it has made it smaller.
    void replace(const ordered_json& messages, std::size_t line) {
        std::unordered_map<std::string, const ordered_json*> by_id;
        for (const ordered_json& message : messages) by_id.emplace(text_at(message, "id"), &message);
        const bool is_smaller = std::ranges::any_of(records_, [&](const GeminiRecord& record) {
            const auto now = by_id.find(std::string(text_at(record.message, "id")));
            return now == by_id.end() || differs(record.message, *now->second);
        });
        if (is_smaller) {
            flush();
            keep(messages, line);
        } else {
            for (const ordered_json& message : messages) put({message, line});
        }
    }

    static bool differs(const ordered_json& before, const ordered_json& now) {
        for (const char* key : {"content", "toolCalls"}) {
            const ordered_json* a = find_member(before, key);
            const ordered_json* b = find_member(now, key);
            if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) return true;
        }
        return false;
    }

    void keep(const ordered_json& messages, std::size_t line) {
        Entries kept;
        for (const ordered_json& message : messages) {
            kept_.emplace(text_at(message, "id"));
            add_message({message, line}, kept, notes_);
        }
        Compaction& compaction = entries_.compact();
        for (std::size_t i = 0; i < kept.size(); ++i) compaction.kept.push_back(kept[i].message);
    }

    void flush() {
        for (const GeminiRecord& record : records_) add_message(record, entries_, notes_);
        records_.clear();
        at_.clear();
    }

    LogNotes& notes_;
    Session session_{.format = Format::gemini_cli};
    Entries entries_{};
    std::vector<GeminiRecord> records_{};  // since the newest compaction
    std::unordered_map<std::string, std::size_t> at_{};
    std::unordered_set<std::string> kept_{};  // ids of messages that a compaction kept
};

}  // namespace

void read_gemini_cli(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    GeminiLog log(options, notes);
    Records records(in, options, notes);
    while (const auto record = records.next_or_document()) log.add(*record, records.line());
    log.finish(visit);
}

}  // namespace whittle::inline v0::logs
