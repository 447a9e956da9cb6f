// Sources of the format of opencode: toolpath's format notes
// (https://github.com/empathic/toolpath/blob/main/docs/agents/formats/opencode.md), which go by `message-v2.ts`
// (https://github.com/anomalyco/opencode/tree/dev/packages/opencode/src/session) (`toModelMessagesEffect`,
// `filterCompacted`) and `getUsage` beside it (2026-11-26); databases and an export that 1.18.33 (npm package
// `opencode-ai`) wrote for a session with a compaction and for its fork; for version 2
// `packages/schema/src/session-message.ts` (https://github.com/anomalyco/opencode/tree/dev/packages/schema/src),
// `packages/core/src/session` (`runner/to-llm-message.ts`, `history.ts`, `projector.ts`: forks, `usage.ts`),
// getagentseal/codeburn#1293 (https://github.com/getagentseal/codeburn/issues/1293) for the tables of 2.0.3,
// JingbiaoMei/Tokdash#99 (https://github.com/JingbiaoMei/Tokdash/pull/99) and anomalyco/opencode#50130
// (https://github.com/anomalyco/opencode/issues/50130) for what stays in the older ones (2026-11-28).
#include "logs/detail/opencode_session.hpp"
#include "openai_form.hpp"
#include "opencode_form.hpp"
#include "opencode_v2.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

constexpr std::string_view compaction_question = "What did we do so far?";

/// A reply that failed is not sent again, unless it was the person who broke it off and there is something to send.
bool is_sent_again(const ordered_json& info, const ordered_json& parts) {
    const ordered_json* error = tree_at(info, "error");
    if (error == nullptr) return true;
    return text_at(*error, "name") == "MessageAbortedError" && std::ranges::any_of(parts, [](const ordered_json& part) {
               const std::string_view type = text_at(part, "type");
               return type != "step-start" && type != "reasoning";
           });
}

/// The part of a prompt that asks for a compaction; else null.
const ordered_json* compaction_part(const ordered_json& parts) {
    const auto at =
        std::ranges::find_if(parts, [](const ordered_json& part) { return text_at(part, "type") == "compaction"; });
    return at == parts.end() ? nullptr : &*at;
}

/// What a call that ended gave; null: it did not end.
const ordered_json* output_of_tool(const ordered_json& state) {
    const ordered_json* facts = tree_at(state, "metadata");
    const ordered_json* until_then = facts == nullptr ? nullptr : find_member(*facts, "output");
    const bool is_interrupted = facts != nullptr && is_set(*facts, "interrupted") && until_then != nullptr;
    if (text_at(state, "status") == "error" && is_interrupted && until_then->is_string()) return until_then;
    const ordered_json* output = find_member(state, "output");
    if (output == nullptr) output = find_member(state, "error");
    return output != nullptr && output->is_string() ? output : nullptr;
}

class OpencodeSession {
public:
    OpencodeSession(const ordered_json& info, const LogOptions& options, LogNotes& notes) : notes_(notes) {
        take_opencode_facts(session_, info, options, notes);
        if (const ordered_json* revert = tree_at(info, "revert")) reverted_to_ = text_at(*revert, "messageID");
    }

    void add(const ordered_json& message, std::size_t line) {
        const ordered_json* info = tree_at(message, "info");
        const ordered_json* parts = tree_at(message, "parts");
        if (info == nullptr || parts == nullptr || !parts->is_array())
            return note_damage(notes_, line, "a message without info and parts");
        if (!reverted_to_.empty() && text_at(*info, "id") == reverted_to_) is_reverted_ = true;
        const std::string_view role = text_at(*info, "role");
        if (is_reverted_) return bill_separately(*info, *parts);
        go_on();
        if (role == "assistant" && is_summary(*info)) return add_summary(*info, *parts);
        ask_for_compaction();
        starts_.insert_or_assign(std::string(text_at(*info, "id")), entries_.size());
        if (role == "user") return add_user(*info, *parts, line);
        if (role == "assistant" && is_sent_again(*info, *parts)) return add_reply(*info, *parts, line);
        if (role == "assistant") {
            ++notes_.left_out["reply that failed"];
            return bill_separately(*info, *parts);
        }
        ++notes_.unknown["message/" + std::string(role.substr(0, 64))];
    }

    void finish(VisitSession visit) {
        entries_.finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    /// A reply that is not sent, by its steps.
    void bill_separately(const ordered_json& info, const ordered_json& parts) {
        const std::string id = opencode_bill_id(info, text_at(info, "modelID"));
        int steps = 0;
        const auto bill = [&](const ordered_json& holder) {
            auto usage = opencode_usage(holder);
            if (!usage) return;
            entries_.bill_elsewhere({.bill_id = id.empty() ? "" : fmt::format("{}/{}", id, ++steps),
                                     .model = std::string(text_at(info, "modelID")),
                                     .time = opencode_time(info, "created"),
                                     .usage = usage});
        };
        for (const ordered_json& part : parts) {
            if (text_at(part, "type") == "step-finish") bill(part);
        }
        if (steps == 0) bill(info);
    }

    /// Whether it stands in for what was in front: one that was asked for has to have ended, which older versions, that
    /// did not ask, do not say.
    [[nodiscard]] bool is_summary(const ordered_json& info) const {
        return is_set(info, "summary") && tree_at(info, "error") == nullptr &&
               (!question_ || !text_at(info, "finish").empty());
    }

    /// The question stays where no summary came of it.
    void ask_for_compaction() {
        if (question_) entries_.add(*std::exchange(question_, std::nullopt));
        tail_.clear();
    }

    void add_user(const ordered_json& info, const ordered_json& parts, std::size_t line) {
        std::string text;
        for (const ordered_json& part : parts) {
            const std::string_view type = text_at(part, "type");
            if (type == "text" && !is_set(part, "ignored")) {
                text.append(text.empty() ? "" : "\n").append(text_at(part, "text"));
            } else {
                leave_out(type);
            }
        }
        if (const ordered_json* compaction = compaction_part(parts)) {
            tail_ = text_at(*compaction, "tail_start_id");
            question_ = Entry{.message = {{"role", "user"}, {"content", std::string(compaction_question)}},
                              .time = opencode_time(info, "created"),
                              .line = line,
                              .call = std::nullopt};
        }
        if (text.empty()) return;  // it asks for a compaction, or holds files alone
        entries_.add({.message = {{"role", "user"}, {"content", std::move(text)}},
                      .time = opencode_time(info, "created"),
                      .line = line,
                      .call = std::nullopt});
    }

    /// The agent asks for its own summary from then on, and goes on with the newest messages from the tail's start on.
    void add_summary(const ordered_json& info, const ordered_json& parts) {
        bill_separately(info, parts);
        ReplyParts summary;
        for (const ordered_json& part : parts) {
            if (text_at(part, "type") == "text") summary.add_text(text_at(part, "text"));
        }
        const auto tail = starts_.find(tail_);
        const bool has_tail = !tail_.empty() && tail != starts_.end();
        if (!tail_.empty() && !has_tail) ++notes_.unknown["tail_start_id"];
        Compaction& compaction = entries_.compact();
        compaction.kept.push_back({{"role", "user"}, {"content", std::string(compaction_question)}});
        if (!summary.empty()) compaction.kept.push_back(summary.message());
        if (has_tail) keep_from(tail->second, compaction);
        question_.reset();
        tail_.clear();
    }

    void keep_from(std::size_t first, Compaction& compaction) {
        std::size_t bytes = 0;
        for (std::size_t i = first; i < entries_.size() && !copies_.is_spent(); ++i)
            bytes += memory_of(entries_[i].message);
        if (copies_.is_spent() || !copies_.take(bytes)) {
            ++notes_.unknown["compaction that keeps more than is copied"];
            return;
        }
        for (std::size_t i = first; i < entries_.size(); ++i) compaction.kept.push_back(entries_[i].message);
    }

    void go_on() {
        for (Entry& result : std::exchange(interrupted_, {})) entries_.add(std::move(result));
    }

    /// Each step of a message is a call of the model.
    void add_reply(const ordered_json& info, const ordered_json& parts, std::size_t line) {
        ReplyParts reply;
        std::vector<const ordered_json*> tools;
        const std::string id = opencode_bill_id(info, text_at(info, "modelID"));
        bool has_steps = false;
        int steps = 0;
        const auto close = [&](std::optional<Usage> usage) {
            if (reply.empty() && !usage) return;
            Call call{.bill_id = id.empty() ? "" : fmt::format("{}/{}", id, ++steps),
                      .model = std::string(text_at(info, "modelID")),
                      .time = opencode_time(info, "created"),
                      .usage = usage};
            if (reply.empty()) return entries_.bill_elsewhere(std::move(call));  // it gave nothing but thoughts
            add_step(info, std::exchange(reply, {}), std::exchange(tools, {}), std::move(call), line);
        };
        for (const ordered_json& part : parts) {
            const std::string_view type = text_at(part, "type");
            if (type == "text") {
                reply.add_text(text_at(part, "text"));
            } else if (type == "tool") {
                const ordered_json* state = tree_at(part, "state");
                reply.call(openai_call(text_at(part, "callID"), text_at(part, "tool"),
                                       state == nullptr ? "{}" : opencode_input(*state)));
                tools.push_back(&part);
            } else if (type == "step-finish") {
                has_steps = true;
                close(opencode_usage(part));
            } else if (type != "step-start") {
                leave_out(type);
            }
        }
        close(has_steps ? std::nullopt : opencode_usage(info));
    }

    void add_step(const ordered_json& info, const ReplyParts& reply, const std::vector<const ordered_json*>& tools,
                  Call call, std::size_t line) {
        go_on();
        const auto time = opencode_time(info, "created");
        entries_.add({.message = reply.message(), .time = time, .line = line, .call = std::move(call)});
        for (const ordered_json* part : tools) {
            const ordered_json* state = tree_at(*part, "state");
            if (state == nullptr) continue;
            const ordered_json* output = output_of_tool(*state);
            if (output == nullptr) {  // the agent says so, in the next request
                interrupted_.push_back(
                    {.message = openai_result(text_at(*part, "callID"), "[Tool execution was interrupted]"),
                     .time = time,
                     .line = line,
                     .call = std::nullopt});
                continue;
            }
            if (const ordered_json* times = tree_at(*state, "time"); times != nullptr && times->contains("compacted"))
                ++notes_.left_out["tool result that the agent cleared later"];
            const auto end = opencode_time(*state, "end");
            entries_.add({.message = openai_result(text_at(*part, "callID"), *output),
                          .time = end ? end : time,
                          .line = line,
                          .call = std::nullopt});
        }
    }

    void leave_out(std::string_view type) {
        static constexpr std::array<std::string_view, 10> known{
            "reasoning", "file", "snapshot", "patch", "agent", "subtask", "retry", "compaction", "text", "step-start"};
        const bool is_known = std::ranges::find(known, type) != known.end();
        ++(is_known ? notes_.left_out : notes_.unknown)["part/" + std::string(type.substr(0, 64))];
    }

    LogNotes& notes_;
    Session session_{.format = Format::opencode};
    Entries entries_{};
    CopyBudget copies_{};
    std::unordered_map<std::string, std::size_t> starts_{};  // of messages, by id
    std::vector<Entry> interrupted_{};  // results of calls that did not end, if the session goes on
    std::optional<Entry> question_{};   // that a summary has to follow
    std::string tail_{};                // the first message that it keeps
    std::string reverted_to_{};
    bool is_reverted_ = false;
};

void read_opencode_document(const ordered_json& document, std::size_t line, const LogOptions& options, LogNotes& notes,
                            VisitSession visit) {
    const ordered_json* info = tree_at(document, "info");
    const ordered_json* messages = tree_at(document, "messages");
    if (info == nullptr || messages == nullptr || !messages->is_array())
        return note_damage(notes, line, "a session without info and messages");
    if (is_opencode_v2(*messages)) return read_opencode_v2(*info, *messages, line, options, notes, visit);
    OpencodeSession session(*info, options, notes);
    for (const ordered_json& message : *messages) session.add(message, line);
    session.finish(visit);
}

}  // namespace

void read_opencode(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes, CutTexts::all);
    while (const auto document = records.next_or_document())
        read_opencode_document(*document, records.line(), options, notes, visit);
}

LogNotes read_opencode_session(const ordered_json& document, const LogOptions& options, VisitSession visit) {
    LogNotes notes{.records = 1};
    read_opencode_document(document, 1, options, notes, visit);
    return notes;
}

}  // namespace whittle::inline v0::logs
