// Sources of the format of pi and OpenClaw: pi's `packages/coding-agent`
// (https://github.com/badlogic/pi-mono/tree/main/packages/coding-agent) at `83378aa` (2026-03-15): `docs/session.md`,
// `src/core/session-manager.ts` (migrations, `buildSessionContext`, `createBranchedSession`), `src/core/messages.ts`
// (`convertToLlm`); `packages/ai/src/providers/transform-messages.ts`; commits `989af79` (2025-12-03), `86e5a70`
// (2025-12-06: totals) and `2d27a2c` (2026-01-19: failed replies); of the npm package `@earendil-works/pi-coding-agent`
// (https://www.npmjs.com/package/@earendil-works/pi-coding-agent) 1.6.0 (2026-11-20), as pi is called now,
// `docs/session-format.md`, `docs/message-types.md`, `docs/json.md` and `examples/extensions/subagent`; OpenClaw's npm
// package 2026.9.6: `docs/reference/transcript-hygiene.md`, `docs/reference/session-management-compaction`, its session
// manager, and of its notices openclaw#86916 (https://github.com/openclaw/openclaw/pull/86916), #99470
// (https://github.com/openclaw/openclaw/issues/99470) (2026-07-03), of its database #98236
// (https://github.com/openclaw/openclaw/pull/98236) and the schema in that package.
#include "pi_agents.hpp"
#include "pi_context.hpp"
#include "pi_form.hpp"
#include "pi_tree.hpp"
#include "readers.hpp"
#include "records.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Of the form of the records: 3 of pi, 4 of OpenClaw.
constexpr std::string_view known_pi = "4";

/// Records of the tree that tell the agent something, and the model nothing.
constexpr std::array<std::string_view, 5> pi_side_records{"custom", "label", "model_change", "session_info",
                                                          "thinking_level_change"};

/// Events of `pi --mode json`, whose messages stand in "message_end" too.
constexpr auto pi_events = std::to_array<std::string_view>(
    {"agent_end", "agent_settled", "agent_start", "auto_compaction_start", "auto_retry_end", "auto_retry_start",
     "compaction_start", "extension_error", "message_start", "message_update", "queue_update", "session_info_changed",
     "thinking_level_changed", "tool_execution_end", "tool_execution_start", "tool_execution_update", "tool_result_end",
     "turn_end", "turn_start"});

/// What OpenClaw delivered elsewhere or says by itself: no reply of a model, and never sent to one.
bool is_openclaw_notice(const ordered_json& message) {
    const std::string_view model = text_at(message, "model");
    const bool is_named =
        text_at(message, "provider") == "openclaw" && (model == "delivery-mirror" || model == "gateway-injected");
    const ordered_json* mirror = tree_at(message, "openclawDeliveryMirror");
    return is_named || (mirror != nullptr && !text_at(*mirror, "kind").empty());
}

bool has_failed(const ordered_json& reply) {
    const std::string_view reason = text_at(reply, "stopReason");
    return reason == "error" || reason == "aborted";
}

class PiLog {
public:
    PiLog(const LogOptions& options, LogNotes& notes, PiAgents& agents) : notes_(notes), agents_(agents) {
        session_.recording.id = stem_of(options);
    }

    /// A sub-agent whose messages stand in a result of another session.
    void begin(const PiAgent& agent) {
        session_.recording.id = agent.id;
        session_.parent = agent.parent;
        session_.folder = agent.folder;
        has_header_ = true;
    }

    /// Whether the record begins another session.
    [[nodiscard]] bool ends_at(const ordered_json& record) const {
        return has_header_ && text_at(record, "type") == "session" && text_at(record, "id") != session_.recording.id;
    }

    void add(ordered_json& record, std::size_t line) {
        if (tree_.has_copy_of(record)) {
            ++notes_.left_out["repeated record"];
            return;
        }
        at_ = &records_.emplace_back(PiNode::none);
        const std::string_view type = text_at(record, "type");
        if (type == "session") return take_header(record);
        if (type == "message" || type == "message_end") return add_message(record, line);
        if (type == "compaction") return add_compaction(record, record, line);
        if (type == "compaction_end" || type == "auto_compaction_end") return end_compaction(record, line);
        if (type == "custom_message" || type == "branch_summary") return add_input(record, type, line);
        if (type == "reset") return add_reset(record);
        if (type == "context_edit") return add_edit(record);
        if (type == "leaf") return tree_.go_to(record);
        if (std::ranges::find(pi_events, type) != pi_events.end()) {
            ++notes_.left_out[std::string(type)];
            return;
        }
        add_other(record, type);
    }

    void finish(VisitSession visit) {
        PiContext context(tree_, entries_, notes_);
        context.follow();
        session_.recording.system = context.prompt().text();
        session_.recording.tools = context.prompt().tools();
        entries_.finish(session_, false, notes_);
        hand_over(std::move(session_), notes_, visit);
    }

private:
    void take_header(const ordered_json& header) {
        if (std::exchange(has_header_, true)) {
            ++notes_.left_out["repeated header"];
            return;
        }
        if (const std::string_view id = text_at(header, "id"); !id.empty()) session_.recording.id = id;
        session_.folder = text_at(header, "cwd");
        session_.version = std::to_string(std::max<std::int64_t>(1, count_at(header, "version")));
        note_version(notes_, session_.version, known_pi);
    }

    void hang(const ordered_json& record, PiNode node) {
        node.is_side_branch = text_at(record, "appendMode") == "side";
        *at_ = tree_.size();
        tree_.add(record, std::move(node));
    }

    void add_message(ordered_json& record, std::size_t line) {
        const auto found = record.find("message");
        if (found == record.end() || !found->is_object()) return note_damage(notes_, line, "a message that is none");
        ordered_json& message = *found;
        PiNode node;
        node.entry.line = line;
        node.entry.time = pi_time(record);
        if (!node.entry.time) node.entry.time = pi_time(message);
        const std::string_view role = text_at(message, "role");
        if (role == "toolResult") take_agents(record, message, line);
        if (role == "assistant") {
            take_reply(record, message, node);
        } else if (role == "system") {
            node.kind = PiKind::prompt;
            node.body = std::move(message);
        } else {
            take_input(message, node);
        }
        hang(record, std::move(node));
    }

    void take_input(const ordered_json& message, PiNode& node) {
        if (is_set(message, "excludeFromContext")) {
            ++notes_.left_out["message that is not sent"];
            return;
        }
        node.entry.message = pi_input(message, notes_);
        if (!node.entry.message.is_null()) {
            node.kind = PiKind::message;
            return;
        }
        ++notes_.unknown["message/" + std::string(text_at(message, "role").substr(0, 64))];
    }

    void take_reply(const ordered_json& record, const ordered_json& message, PiNode& node) {
        if (is_openclaw_notice(message)) {
            ++notes_.left_out["message that is not sent"];
            return;
        }
        Call call = pi_call(record, message, model_);
        drop_ambiguous_id(call);
        const bool is_sent = !has_failed(message) && !is_set(message, "excludeFromContext");
        if (!is_sent) ++notes_.left_out["reply that failed"];
        const ReplyParts reply = is_sent ? pi_reply(find_member(message, "content"), notes_) : ReplyParts();
        if (reply.empty()) {  // it failed, or gave nothing but thoughts
            if (!is_sent) node.kind = PiKind::failed;
            call.time = node.entry.time;
            return bill(std::move(call));
        }
        node.kind = PiKind::message;
        node.entry.message = reply.message();
        node.entry.call = std::move(call);
    }

    /// Some servers give one id to several replies.
    void drop_ambiguous_id(Call& call) {
        if (call.id.empty()) return;
        const auto [known, is_new] = replies_.try_emplace(call.id, call.bill_id);
        if (!is_new && known->second != call.bill_id) {
            call.id.clear();
        } else {
            call.bill_id.clear();
        }
    }

    void bill(Call call) {
        if (is_bill(call.usage)) entries_.bill_elsewhere(std::move(call));
    }

    /// What a tool had models do: sub-agents with their messages, or else their bill.
    void take_agents(const ordered_json& record, ordered_json& result, std::size_t line) {
        if (!agents_.take_from(result, session_, line)) bill(pi_side_call(record, result, "tool"));
    }

    void add_input(const ordered_json& record, std::string_view type, std::size_t line) {
        PiNode node;
        node.entry.line = line;
        node.entry.time = pi_time(record);
        if (type == "custom_message") {
            node.kind = PiKind::message;
            node.entry.message = {{"role", "user"}, {"content", pi_content(find_member(record, "content"), notes_)}};
        } else if (const std::string_view summary = text_at(record, "summary"); !summary.empty()) {
            node.kind = PiKind::message;
            node.entry.message = pi_branch_summary(summary);
        }
        bill(pi_side_call(record, record, type));
        hang(record, std::move(node));
    }

    /// `compacted`: the record, or what in it tells of the compaction.
    void add_compaction(const ordered_json& record, const ordered_json& compacted, std::size_t line) {
        PiNode node{.kind = PiKind::compaction};
        node.entry.line = line;
        node.entry.message = pi_compaction_summary(text_at(compacted, "summary"));
        node.trigger = text_at(record, "reason");
        if (find_member(compacted, "tokensBefore") != nullptr) node.tokens_before = count_at(compacted, "tokensBefore");
        if (const ordered_json* system = tree_at(compacted, "systemMessage")) node.body = *system;
        node.target = first_kept(record, compacted);
        if (node.target == PiNode::none && text_at(compacted, "firstKeptEntryId") != text_at(record, "id"))
            ++notes_.unknown["firstKeptEntryId"];
        bill(pi_side_call(record, compacted, "compaction"));
        hang(record, std::move(node));
    }

    /// Of a stream of events; there may be no result.
    void end_compaction(const ordered_json& event, std::size_t line) {
        if (const ordered_json* result = tree_at(event, "result")) return add_compaction(event, *result, line);
        ++notes_.left_out["compaction that failed"];
    }

    /// By its id, or, in the first version, by its number among the records.
    [[nodiscard]] std::size_t first_kept(const ordered_json& record, const ordered_json& holder) const {
        const std::string_view id = text_at(holder, "firstKeptEntryId");
        if (!id.empty()) return id == text_at(record, "id") ? PiNode::none : tree_.find(id);
        const ordered_json* index = find_member(holder, "firstKeptEntryIndex");
        if (index == nullptr || !index->is_number_unsigned()) return PiNode::none;
        const auto number = index->get<std::size_t>();
        return number < records_.size() ? records_[number] : PiNode::none;
    }

    /// The person began anew, with OpenClaw in the same session.
    void add_reset(const ordered_json& record) {
        PiNode node{.kind = PiKind::compaction, .is_reset = true};
        node.trigger = text_at(record, "reason");
        node.target = first_kept(record, record);
        hang(record, std::move(node));
    }

    void add_edit(const ordered_json& record) {
        PiNode node{.kind = PiKind::edit};
        node.target = tree_.find(text_at(record, "targetId"));
        if (node.target == PiNode::none) ++notes_.unknown["context_edit"];
        if (const ordered_json* replacement = tree_at(record, "replacement")) {
            const ordered_json* content = find_member(*replacement, "content");
            node.body = content == nullptr ? ordered_json("") : *content;
        }
        hang(record, std::move(node));
    }

    void add_other(const ordered_json& record, std::string_view type) {
        if (type == "usage") {
            bill(pi_side_call(record, record, text_at(record, "kind")));
        } else if (std::ranges::find(pi_side_records, type) != pi_side_records.end()) {
            ++notes_.left_out[std::string(type)];
            take_model(record, type);
        } else {
            ++notes_.unknown[type.empty() ? "record" : std::string(type.substr(0, 64))];
        }
        hang(record, {});
    }

    /// Of replies that do not tell theirs.
    void take_model(const ordered_json& record, std::string_view type) {
        const ordered_json* data = tree_at(record, "data");
        const bool is_snapshot = text_at(record, "customType") == "model-snapshot" && data != nullptr;
        if (type != "model_change" && !is_snapshot) return;
        constexpr std::size_t most = 200;  // of any name: each reply without one gets it
        if (const std::string_view model = text_at(is_snapshot ? *data : record, "modelId"); !model.empty())
            model_ = model.substr(0, most);
    }

    LogNotes& notes_;
    PiAgents& agents_;
    Session session_{.format = Format::pi};
    Entries entries_{};
    PiTree tree_{};
    std::vector<std::size_t> records_{};                      // of the file: where each is in the tree
    std::size_t* at_ = nullptr;                               // of the newest one
    std::unordered_map<std::string, std::string> replies_{};  // by the provider's id: what else tells them apart
    std::string model_{};
    bool has_header_ = false;
};

/// Sub-agents may have sub-agents.
void finish_with_agents(PiLog& log, PiAgents& agents, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    log.finish(visit);
    while (auto agent = agents.next()) {
        PiLog of_agent(options, notes, agents);
        of_agent.begin(*agent);
        for (ordered_json& message : agent->messages) {
            ordered_json record{{"type", "message"}, {"message", std::move(message)}};
            of_agent.add(record, agent->line);
        }
        of_agent.finish(visit);
    }
}

}  // namespace

void read_pi(std::istream& in, const LogOptions& options, LogNotes& notes, VisitSession visit) {
    Records records(in, options, notes);
    PiAgents agents;
    std::optional<PiLog> log(std::in_place, options, notes, agents);
    while (auto record = records.next()) {
        if (log->ends_at(*record)) {
            finish_with_agents(*log, agents, options, notes, visit);
            log.emplace(options, notes, agents);
        }
        log->add(*record, records.line());
    }
    finish_with_agents(*log, agents, options, notes, visit);
}

}  // namespace whittle::inline v0::logs
