#include "opencode_v2.hpp"

#include "openai_form.hpp"
#include "opencode_form.hpp"
#include "records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

/// What the agent gives a tool's result as: its texts, behind what went wrong.
std::string result_of_opencode_v2(const ordered_json& state, LogNotes& notes) {
    std::string joined;
    const auto add_text = [&](std::string_view text) {
        if (!text.empty()) joined.append(joined.empty() ? "" : "\n").append(text);
    };
    if (const ordered_json* error = tree_at(state, "error")) add_text(text_at(*error, "message"));
    if (const ordered_json* content = tree_at(state, "content")) {
        for (const ordered_json& part : *content) {
            if (text_at(part, "type") == "text") {
                add_text(text_at(part, "text"));
            } else {
                ++notes.left_out["part/" + std::string(text_at(part, "type").substr(0, 64))];
            }
        }
    }
    if (!joined.empty()) return joined;
    const ordered_json* structured = tree_at(state, "structured");
    return structured == nullptr || structured->empty() ? "" : to_json_text(*structured);
}

bool has_ended_in_opencode(const ordered_json& state) {
    const std::string_view status = text_at(state, "status");
    return status == "completed" || status == "error";
}

std::string model_of_opencode_v2(const ordered_json& message) {
    const ordered_json* model = tree_at(message, "model");
    return model == nullptr ? "" : std::string(text_at(*model, "id"));
}

std::string shell_of_opencode_v2(const ordered_json& message) {
    const ordered_json* output = tree_at(message, "output");  // older versions have the text itself
    return fmt::format("Shell command: {}\n\n{}", text_at(message, "command"),
                       output == nullptr ? text_at(message, "output") : text_at(*output, "output"));
}

class OpencodeRows {
public:
    OpencodeRows(const ordered_json& info, const LogOptions& options, LogNotes& notes) : notes_(notes) {
        take_opencode_facts(session_, info, options, notes);
        if (const ordered_json* revert = tree_at(info, "revert")) reverted_to_ = text_at(*revert, "messageID");
    }

    void add(const ordered_json& message, std::size_t line) {
        const std::string_view type = text_at(message, "type");
        if (type.empty()) return note_damage(notes_, line, "a message without a type");
        if (!reverted_to_.empty() && text_at(message, "id") == reverted_to_) is_reverted_ = true;
        if (is_reverted_) return bill_separately(message);
        if (type == "assistant") return add_reply(message, line);
        if (type == "compaction") return compact(message);
        if (type == "user" || type == "synthetic" || type == "skill") {
            leave_out_files(message);
            return add_text("user", std::string(text_at(message, "text")), message, line);
        }
        if (type == "system") return add_text("system", std::string(text_at(message, "text")), message, line);
        if (type == "shell") return add_text("user", shell_of_opencode_v2(message), message, line);
        constexpr std::array<std::string_view, 4> known{"agent-switched", "model-switched", "location-switched",
                                                        "idle"};
        const bool is_known = std::ranges::find(known, type) != known.end();
        ++(is_known ? notes_.left_out : notes_.unknown)["message/" + std::string(type.substr(0, 64))];
    }

    void finish(VisitSession visit) {
        entries_.finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    void add_text(const char* role, std::string text, const ordered_json& message, std::size_t line) {
        go_on();
        if (text.empty()) return;  // files alone
        entries_.add({.message = {{"role", role}, {"content", std::move(text)}},
                      .time = opencode_time(message, "created"),
                      .line = line,
                      .call = std::nullopt});
    }

    void leave_out_files(const ordered_json& message) {
        if (const ordered_json* files = tree_at(message, "files"); files != nullptr && !files->empty())
            notes_.left_out["part/file"] += static_cast<std::int64_t>(files->size());
    }

    /// Each is one call of the model.
    [[nodiscard]] static Call call_of(const ordered_json& message) {
        std::string model = model_of_opencode_v2(message);
        const std::string id = opencode_bill_id(message, model);
        return {.bill_id = id.empty() ? "" : id + "/1",
                .model = std::move(model),
                .time = opencode_time(message, "created"),
                .usage = opencode_usage(message)};
    }

    void bill_separately(const ordered_json& message) {
        Call call = call_of(message);
        if (text_at(message, "type") == "compaction" && call.usage) call.bill_id = bill_id_of_compaction(message);
        if (call.usage) entries_.bill_elsewhere(std::move(call));
    }

    /// It has no end, and another id in a session that was forked.
    [[nodiscard]] static std::string bill_id_of_compaction(const ordered_json& message) {
        const Usage usage = opencode_usage(message).value_or(Usage{});
        return fmt::format("opencode/compaction/{:.0f}-{}-{}", opencode_time(message, "created").value_or(0) * 1'000,
                           usage.total(), usage.output);
    }

    void add_reply(const ordered_json& message, std::size_t line) {
        go_on();
        ReplyParts reply;
        std::vector<Entry> results;
        const ordered_json* content = tree_at(message, "content");
        const auto time = opencode_time(message, "created");
        if (content != nullptr) {
            for (const ordered_json& part : *content) {
                const std::string_view type = text_at(part, "type");
                if (type == "text") {
                    reply.add_text(text_at(part, "text"));
                } else if (type == "tool" && !is_set(part, "executed")) {
                    add_tool(part, time, line, reply, results);
                } else {
                    const bool is_known = type == "reasoning" || type == "tool";  // that the provider ran
                    ++(is_known ? notes_.left_out : notes_.unknown)["part/" + std::string(type.substr(0, 64))];
                }
            }
        }
        if (reply.empty()) {  // thoughts alone, or a reply that failed
            ++notes_.left_out["reply without text and calls"];
            return bill_separately(message);
        }
        entries_.add({.message = reply.message(), .time = time, .line = line, .call = call_of(message)});
        for (Entry& result : results) entries_.add(std::move(result));
    }

    void add_tool(const ordered_json& part, std::optional<double> time, std::size_t line, ReplyParts& reply,
                  std::vector<Entry>& results) {
        const std::string_view id = text_at(part, "id");
        const ordered_json* state = tree_at(part, "state");
        reply.call(openai_call(id, text_at(part, "name"), state == nullptr ? "{}" : opencode_input(*state)));
        Entry result{.message = openai_result(id, ""), .time = time, .line = line, .call = std::nullopt};
        if (state == nullptr || !has_ended_in_opencode(*state)) return open_.push_back(std::move(result));
        if (const auto end = opencode_time(part, "completed")) result.time = end;
        result.message["content"] = result_of_opencode_v2(*state, notes_);
        results.push_back(std::move(result));
    }

    /// Calls that did not end have an empty result, if the session goes on.
    void go_on() {
        for (Entry& result : std::exchange(open_, {})) {
            ++notes_.left_out["tool call without a result"];
            entries_.add(std::move(result));
        }
    }

    /// Requests begin with the summary and with what the agent put down of the newest messages, as text.
    void compact(const ordered_json& message) {
        bill_separately(message);
        const std::string_view status = text_at(message, "status");
        if (!status.empty() && status != "completed") {
            ++notes_.left_out["compaction that did not end"];
            return;
        }
        go_on();
        if (tree_at(message, "providerContext") != nullptr) ++notes_.unknown["compaction/providerContext"];
        Compaction& compaction = entries_.compact();
        compaction.trigger = text_at(message, "reason");
        std::string text(text_at(message, "summary"));
        if (const std::string_view recent = text_at(message, "recent"); !recent.empty())
            text.append(text.empty() ? "" : "\n\n").append(recent);
        if (!text.empty()) compaction.kept.push_back({{"role", "user"}, {"content", std::move(text)}});
    }

    LogNotes& notes_;
    Session session_{.format = Format::opencode};
    Entries entries_{};
    std::vector<Entry> open_{};  // results of calls that did not end
    std::string reverted_to_{};
    bool is_reverted_ = false;
};

}  // namespace

bool is_opencode_v2(const ordered_json& messages) {
    const auto has_type = [](const ordered_json& message) {
        return !text_at(message, "type").empty() && tree_at(message, "info") == nullptr;
    };
    return !messages.empty() && has_type(messages.front());
}

void read_opencode_v2(const ordered_json& info, const ordered_json& messages, std::size_t line,
                      const LogOptions& options, LogNotes& notes, VisitSession visit) {
    OpencodeRows session(info, options, notes);
    for (const ordered_json& message : messages) session.add(message, line);
    session.finish(visit);
}

}  // namespace whittle::inline v0::logs
