#include "explanation.hpp"

#include "shown.hpp"
#include "table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace whittle::cli {

std::string_view name_of(Fate fate) noexcept {
    constexpr std::array<std::string_view, 6> names{"kept", "cut", "cleared", "folded", "removed", "added"};
    return names[static_cast<std::size_t>(fate)];
}

void EditLog::note(const Report& report) {
    for (const StageReport& stage : report.stages) {
        if (stage.outcome == Outcome::idle) continue;
        stages_.push_back({std::string(stage.middleware), std::string(name_of(report.hook)),
                           std::string(name_of(stage.outcome)), stage.count, stage.threshold,
                           stage.details ? stage.details->error : std::string()});
        if (!stage.details) continue;
        for (const Candidate& candidate : stage.details->candidates) {
            if (candidate.cut) {
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

Fate fate_of_edited(const MessageInfo& sent) noexcept {
    constexpr std::array<std::string_view, 3> whole{"clear", "prune", media_reason};
    for (std::size_t part = 0; part < sent.parts.size(); ++part) {
        const Mark& mark = mark_of(sent, part);
        if (mark && std::ranges::find(whole, mark->reason) != whole.end()) return Fate::cleared;
    }
    return Fate::cut;
}

std::vector<std::string> stored_of(const MessageInfo& sent) {
    std::vector<std::string> keys;
    const auto add = [&](const Mark& mark) {
        if (!mark) return;
        for (const std::string& key : mark->stored) {
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

/// "message 3 as 1": where it was recorded, and where it is sent if that differs.
std::string place_text(const ExplainedMessage& message) {
    if (!message.recorded) return fmt::format("+{}", *message.sent);
    if (!message.sent || *message.sent == *message.recorded) return fmt::format("{}", *message.recorded);
    return fmt::format("{}>{}", *message.recorded, *message.sent);
}

std::string tokens_text(const ExplainedMessage& message) {
    if (message.fate == Fate::kept) return grouped(message.tokens_sent);
    if (message.fate == Fate::added) return "+" + grouped(message.tokens_sent);
    return fmt::format("{} -> {}", grouped(message.tokens_recorded), grouped(message.tokens_sent));
}

std::string edit_text(const ExplainedEdit& edit) {
    std::string text = fmt::format("by {}: {}", edit.by, edit.reason);
    if (!edit.rule.empty() && edit.rule != edit.reason) text += fmt::format(", rule {}", edit.rule);
    text += fmt::format(", from call {} on", edit.call);
    if (edit.threshold > 0) text += fmt::format(" ({} tokens, limit {})", grouped(edit.count), grouped(edit.threshold));
    return text;
}

std::string original_text(const ExplainedMessage& message) {
    if (message.stored.empty()) return "original: in the journal";
    constexpr std::size_t most = 3;
    const std::size_t shown_keys = std::min(most, message.stored.size());
    std::string text = fmt::format(
        "original: {}",
        fmt::join(message.stored.begin(), message.stored.begin() + static_cast<std::ptrdiff_t>(shown_keys), ", "));
    if (message.stored.size() > most) text += fmt::format(" and {} more", message.stored.size() - most);
    return text;
}

/// The lines below a message's own.
std::vector<std::string> reasons_of(const ExplainedMessage& message) {
    std::vector<std::string> lines;
    for (const ExplainedEdit& edit : message.edits) lines.push_back(edit_text(edit));
    for (const ExplainedKeep& keep : message.keeps) lines.push_back(fmt::format("{} keeps it: {}", keep.by, keep.rule));
    if (message.fate == Fate::kept) return lines;
    if (message.folded_into) lines.push_back(fmt::format("into message {} of the request", *message.folded_into));
    if (message.sent && !message.text.empty()) lines.push_back("now: " + message.text);
    if (message.fate != Fate::added || !message.stored.empty()) lines.push_back(original_text(message));
    return lines;
}

std::string stages_text(const Explanation& explanation, std::size_t columns) {
    std::string text;
    for (const ExplainedStage& stage : explanation.stages) {
        std::string line = fmt::format("{} {}: {}", stage.hook, stage.middleware, stage.outcome);
        if (stage.count > 0 || stage.threshold > 0)
            line += fmt::format(" ({} tokens, limit {})", grouped(stage.count), grouped(stage.threshold));
        if (!stage.error.empty()) line += ": " + stage.error;
        text += clipped_to_width(shown(line), columns) + "\n";
    }
    return text;
}

}  // namespace

ordered_json message_json(const ExplainedMessage& message) {
    ordered_json json{{"recorded", index_json(message.recorded)},
                      {"sent", index_json(message.sent)},
                      {"role", message.role},
                      {"fate", name_of(message.fate)},
                      {"tokens_recorded", message.tokens_recorded},
                      {"tokens_sent", message.tokens_sent}};
    if (!message.tool.empty()) json["tool"] = message.tool;
    json["edits"] = ordered_json::array();
    for (const ExplainedEdit& edit : message.edits) json["edits"].push_back(to_json(edit));
    json["kept_by"] = ordered_json::array();
    for (const ExplainedKeep& keep : message.keeps)
        json["kept_by"].push_back({{"middleware", keep.by}, {"rule", keep.rule}});
    if (message.fate == Fate::kept) return json;
    if (message.fate == Fate::folded) json["folded_into"] = index_json(message.folded_into);
    if (message.sent) json["text"] = message.text;
    if (message.fate != Fate::added || !message.stored.empty()) {
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
        if (!stage.error.empty()) json["stages"].back()["error"] = stage.error;
    }
    json["messages"] = ordered_json::array();
    for (const ExplainedMessage& message : explanation.messages) json["messages"].push_back(message_json(message));
    return json;
}

std::string explanation_text(const Explanation& explanation, std::size_t columns) {
    std::string text =
        fmt::format("{}: call {}\n{} tokens sent for {} recorded, system text and tools {} ({})\n",
                    shown(explanation.trajectory), explanation.call, grouped(explanation.tokens_sent),
                    grouped(explanation.tokens_recorded), grouped(explanation.overhead), shown(explanation.counter));
    text += stages_text(explanation, columns) + "\n";
    for (const ExplainedMessage& message : explanation.messages) {
        const std::string who = message.tool.empty() ? message.role : fmt::format("{} {}", message.role, message.tool);
        text += clipped_to_width(shown(fmt::format("{:>5} {:<8} {}, {}", place_text(message), name_of(message.fate),
                                                   who, tokens_text(message))),
                                 columns) +
                "\n";
        constexpr std::size_t indent = 6;
        for (const std::string& line : reasons_of(message))
            text += std::string(indent, ' ') + clipped_to_width(shown(line), columns - indent) + "\n";
    }
    return text;
}

}  // namespace whittle::cli
