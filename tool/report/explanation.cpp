#include "explanation.hpp"

#include <algorithm>
#include <array>

namespace whittle::cli {

std::string_view to_string(MessageState state) noexcept {
    constexpr std::array<std::string_view, 6> names{"kept", "cut", "cleared", "folded", "removed", "added"};
    return names[static_cast<std::size_t>(state)];
}

void EditLog::note(const Report& report) {
    for (const StageReport& stage : report.stages) {
        if (stage.outcome == Outcome::not_applicable) continue;
        stages_.push_back({std::string(stage.middleware), std::string(to_string(report.hook)),
                           std::string(to_string(stage.outcome)), outcome_text(stage),
                           std::string(stage.not_due_reason), stage.count, stage.threshold,
                           stage.details ? stage.details->error : std::string()});
        if (!stage.details) continue;
        for (const Candidate& candidate : stage.details->candidates) {
            if (candidate.removed) {
                cuts_[{std::string(stage.middleware), candidate.serial}] = {std::string(candidate.rule), stage.count,
                                                                            stage.threshold};
                continue;
            }
            std::vector<ExplainedKeep>& keeps = keeps_[candidate.serial];
            const ExplainedKeep keep{std::string(stage.middleware), std::string(candidate.rule)};
            if (std::ranges::find(keeps, keep) == keeps.end()) keeps.push_back(keep);
        }
    }
}

void EditLog::note(std::int64_t call, const JournalRecord& record, std::span<const MessageInfo> replaced) {
    for (const MessageInfo& info : replaced) {
        ExplainedEdit edit{.call = call, .by = record.by, .reason = record.reason};
        edit.is_return = record.kind == JournalRecord::Kind::tool_return;
        if (const auto cut = cuts_.find({record.by, info.serial}); cut != cuts_.end()) {
            edit.rule = cut->second.rule;
            edit.count = cut->second.count;
            edit.threshold = cut->second.threshold;
        }
        edits_[info.serial].push_back(std::move(edit));
    }
}

void EditLog::next_call() {
    cuts_.clear();
    keeps_.clear();
    stages_.clear();
}

std::vector<ExplainedEdit> EditLog::edits_of(Serial serial) const {
    const auto found = edits_.find(serial);
    return found == edits_.end() ? std::vector<ExplainedEdit>{} : found->second;
}

std::vector<ExplainedKeep> EditLog::keeps_of(Serial serial) const {
    const auto found = keeps_.find(serial);
    return found == keeps_.end() ? std::vector<ExplainedKeep>{} : found->second;
}

MessageState state_of_edited(const MessageInfo& sent) noexcept {
    constexpr std::array<std::string_view, 3> whole{"clear", "prune", media_reason};
    for (std::size_t part = 0; part < sent.parts.size(); ++part) {
        const Mark& mark = mark_of(sent, part);
        if (mark && std::ranges::find(whole, mark->reason) != whole.end()) return MessageState::cleared;
    }
    return MessageState::cut;
}

std::vector<std::string> stored_of(const MessageInfo& sent) {
    std::vector<std::string> keys;
    const auto add = [&](const Mark& mark) {
        if (!mark) return;
        for (const std::string& key : mark->stored_keys) {
            if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
        }
    };
    add(sent.mark);
    for (const PartInfo& part : sent.parts) add(part.mark);
    return keys;
}

void name_wraps(std::span<ExplainedEdit> edits, const MessageInfo& sent) {
    for (const PartInfo& part : sent.parts) {
        if (!part.mark || part.mark->reason != truncate_reason || part.mark->by.empty()) continue;
        for (ExplainedEdit& edit : edits) {
            if (edit.is_return) edit.by = part.mark->by;
        }
    }
}

std::string tool_of(const MessageInfo& info) {
    for (const PartInfo& part : info.parts) {
        if (part.kind == PartKind::tool_result) return std::string(part.tool.view());
    }
    return {};
}

namespace {

using nlohmann::ordered_json;

ordered_json index_json(const std::optional<std::size_t>& index) {
    return index ? ordered_json(*index) : ordered_json(nullptr);
}

ordered_json to_json(const ExplainedEdit& edit) {
    ordered_json json{{"call", edit.call}, {"by", edit.by}, {"reason", edit.reason}};
    json["rule"] = edit.rule.empty() ? ordered_json(nullptr) : ordered_json(edit.rule);
    if (edit.threshold > 0) {
        json["count"] = edit.count;
        json["threshold"] = edit.threshold;
    }
    return json;
}

}  // namespace

ordered_json message_json(const ExplainedMessage& message) {
    ordered_json json{{"recorded", index_json(message.recorded)},
                      {"sent", index_json(message.sent)},
                      {"role", message.role},
                      {"state", to_string(message.state)},
                      {"tokens_recorded", message.tokens_recorded},
                      {"tokens_sent", message.tokens_sent}};
    if (!message.tool.empty()) json["tool"] = message.tool;
    json["edits"] = ordered_json::array();
    for (const ExplainedEdit& edit : message.edits) json["edits"].push_back(to_json(edit));
    json["kept_by"] = ordered_json::array();
    for (const ExplainedKeep& keep : message.keeps)
        json["kept_by"].push_back({{"middleware", keep.by}, {"rule", keep.rule}});
    if (message.state == MessageState::kept) return json;
    if (message.state == MessageState::folded) json["folded_into"] = index_json(message.folded_into);
    if (message.sent) json["text"] = message.text;
    if (message.state != MessageState::added || !message.stored.empty()) {
        json["original"] = message.stored.empty() ? "journal" : "store";
        json["stored"] = message.stored;
    }
    return json;
}

void hide_secrets(ExplainedMessage& message, const KnownSecrets& secrets) {
    message.role = secrets.hidden(message.role);
    message.tool = secrets.hidden(message.tool);
    message.text = secrets.hidden(message.text);
    for (std::string& key : message.stored) key = secrets.hidden(key);
}

void hide_secrets(Explanation& explanation, const KnownSecrets& secrets) {
    explanation.trajectory = secrets.hidden(explanation.trajectory);
    for (ExplainedStage& stage : explanation.stages) stage.error = secrets.hidden(stage.error);
    for (ExplainedMessage& message : explanation.messages) hide_secrets(message, secrets);
}

ordered_json explanation_json(const Explanation& explanation) {
    ordered_json json{{"trajectory", explanation.trajectory},   {"call", explanation.call},
                      {"counter", explanation.counter},         {"tokens_recorded", explanation.tokens_recorded},
                      {"tokens_sent", explanation.tokens_sent}, {"system_and_tools", explanation.overhead}};
    json["stages"] = ordered_json::array();
    for (const ExplainedStage& stage : explanation.stages) {
        json["stages"].push_back({{"middleware", stage.middleware},
                                  {"hook", stage.hook},
                                  {"outcome", stage.outcome},
                                  {"count", stage.count},
                                  {"threshold", stage.threshold}});
        if (!stage.reason.empty()) json["stages"].back()["reason"] = stage.reason;
        if (!stage.error.empty()) json["stages"].back()["error"] = stage.error;
    }
    json["messages"] = ordered_json::array();
    for (const ExplainedMessage& message : explanation.messages) json["messages"].push_back(message_json(message));
    return json;
}

}  // namespace whittle::cli
