#pragma once

#include "whittle/base/text.hpp"
#include "whittle/conversation/conversation.hpp"
#include "whittle/conversation/detail/checks.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/detail/repair_plan.hpp"
#include "whittle/message/traits.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// What a repair came to.
struct RepairResult {
    Outcome outcome = Outcome::undue;  ///< undue: no rule is broken; nothing: none that can be mended
    std::vector<Repair> repairs{};
    std::vector<Violation> remaining{};  ///< what is still broken
    std::int64_t tokens_before = 0;      ///< of the messages, by the environment's counter
    std::int64_t tokens_after = 0;
    std::optional<std::size_t> first_changed{};

    [[nodiscard]] bool committed() const noexcept { return outcome == Outcome::committed; }
};

namespace detail {

/// Carries a repair plan out on copies.
template <AgentMessage M>
class RepairedList {
public:
    struct Entry {
        std::size_t source = RepairedMessage::none;  ///< the message that stays as and where it is
        std::vector<M> messages{};                   ///< else what takes its place
        std::vector<MessageInfo> infos{};            ///< as many
    };

    RepairedList(std::span<const M> messages, std::span<const MessageInfo> infos, const RepairPlan& plan,
                 const ValidityProfile& profile, Language language, Timestamp when, Serial next_serial)
        : messages_(messages),
          infos_(infos),
          text_only_(has_rule(profile, Rule::OC6_text_only_results)),
          language_(language),
          when_(when),
          next_serial_(next_serial) {
        for (const RepairedMessage& m : plan.messages) add(m);
        join();
    }

    /// The whole list as splices of the old one.
    [[nodiscard]] std::vector<Splice<M>> to_splices() {
        std::vector<Splice<M>> splices;
        std::size_t old = 0;
        std::size_t i = 0;
        while (i < entries_.size() || old < infos_.size()) {
            if (i < entries_.size() && entries_[i].source == old) {
                ++i, ++old;
                continue;
            }
            Splice<M> splice{.first = old};
            for (; i < entries_.size() && entries_[i].source == RepairedMessage::none; ++i) {
                std::ranges::move(entries_[i].messages, std::back_inserter(splice.messages));
                std::ranges::move(entries_[i].infos, std::back_inserter(splice.infos));
            }
            old = i < entries_.size() ? entries_[i].source : infos_.size();
            splice.count = old - splice.first;
            splices.push_back(std::move(splice));
        }
        return splices;
    }
    [[nodiscard]] Serial next_serial() const noexcept { return next_serial_; }

private:
    void add(const RepairedMessage& m) {
        if (m.is_untouched()) {
            entries_.push_back({m.source, {}, {}});
            return;
        }
        Entry entry;
        if (m.kind == RepairedMessage::Kind::kept) {
            entry.messages.push_back(messages_[m.source]);
            entry.infos.push_back(infos_[m.source]);
            edit(m, entry.messages.back(), entry.infos.back());
        } else {
            entry.messages = m.kind == RepairedMessage::Kind::result ? result_messages(m) : spoken_message(m);
            for (const M& message : entry.messages) entry.infos.push_back(info_of_new(m, message));
        }
        entries_.push_back(std::move(entry));
    }

    [[nodiscard]] Mark mark(Origin origin, std::string_view code, const Mark& old) const {
        Provenance provenance{
            .origin = origin, .by = std::string(repair_name), .reason = std::string(code), .when = when_};
        if (old) provenance.stored = old->stored;
        return std::make_shared<const Provenance>(std::move(provenance));
    }

    /// What is known of the parts of a message, with marks and names, while it is edited.
    struct Known {
        std::vector<PartInfo> parts{};
        std::vector<std::size_t> numbers{};  // by which repairs name them

        [[nodiscard]] std::optional<std::size_t> place_of(const PartRepair& r) const {
            const auto found = std::ranges::lower_bound(numbers, r.part);
            if (found == numbers.end() || *found != r.part) return std::nullopt;  // an edit took it away
            return static_cast<std::size_t>(found - numbers.begin());
        }
        /// `gone`: ascending.
        void take_out(std::span<const std::size_t> gone) {
            const auto is_gone = [&](const auto& items) {
                return [&](const auto& item) {
                    return std::ranges::binary_search(gone, static_cast<std::size_t>(&item - items.data()));
                };
            };
            std::erase_if(parts, is_gone(parts));
            std::erase_if(numbers, is_gone(numbers));
        }
    };

    /// What the message says stays its author's: only what repair wrote itself is marked as a repair.
    void edit(const RepairedMessage& m, M& message, MessageInfo& info) const {
        Known known{{info.parts.begin(), info.parts.end()}, std::vector<std::size_t>(info.parts.size())};
        std::iota(known.numbers.begin(), known.numbers.end(), std::size_t{0});
        PartFinder<M> parts;
        for (std::span<const PartRepair> left = m.parts; !left.empty();) {
            const std::size_t together = std::max<std::size_t>(count_erases(left), 1);
            const auto now = left.first(together);
            left = left.subspan(together);
            if (together > 1 && erase_together(message, now, known)) {
                parts.forget();
            } else {
                for (const PartRepair& r : now) edit_one(message, r, known, parts);
            }
        }
        MessageInfo fresh = describe(message);
        for (std::size_t p = 0; p < fresh.parts.size() && p < known.parts.size(); ++p) {
            fresh.parts[p].mark = std::move(known.parts[p].mark);
            fresh.parts[p].object_name = std::move(known.parts[p].object_name);
            fresh.parts[p].tool.share_if_equal(known.parts[p].tool);
            fresh.parts[p].call_id.share_if_equal(known.parts[p].call_id);
        }
        info.parts = std::move(fresh.parts);
        info.fingerprint = fresh.fingerprint;
        info.tokens.clear();
        if (!info.mark) info.mark = mark(Origin::original, m.code, nullptr);
    }

    void edit_one(M& message, const PartRepair& r, Known& known, PartFinder<M>& parts) const {
        const auto at = known.place_of(r);
        if (!at) return;
        note_edit(known.parts[*at], r);
        if (edit_part(message, *at, r, parts)) return;
        parts.forget();
        const std::size_t gone = find_gone(known.parts, *at, r, message);
        if (gone < known.parts.size()) known.take_out({&gone, 1});
    }

    /// How many of the first repairs take out a part, each in front of that before it.
    [[nodiscard]] static std::size_t count_erases(std::span<const PartRepair> repairs) {
        std::size_t count = 0;
        for (const PartRepair& r : repairs) {
            if (r.kind != PartRepair::Kind::erase || (count > 0 && r.part >= repairs[count - 1].part)) break;
            ++count;
        }
        return count;
    }

    /// False, and nothing done, where an erase takes another part along, or shows one.
    [[nodiscard]] static bool erase_together(M& message, std::span<const PartRepair> erases, Known& known) {
        std::vector<std::size_t> gone;
        for (std::size_t i = erases.size(); i-- > 0;) {
            if (const auto at = known.place_of(erases[i])) gone.push_back(*at);
        }
        M edited = message;
        erase_parts_of(edited, gone);
        if (count_parts(edited) + gone.size() != known.parts.size()) return false;
        message = std::move(edited);
        known.take_out(gone);
        return true;
    }

    [[nodiscard]] static std::size_t count_parts(const M& message) {
        std::size_t count = 0;
        message_traits<M>::for_each_part(message, [&](const PartView&) { ++count; });
        return count;
    }

    void note_edit(PartInfo& part, const PartRepair& r) const {
        if (r.kind == PartRepair::Kind::rename && part.kind != PartKind::tool_call) part.object_name = SharedString();
        if (r.kind == PartRepair::Kind::valid_utf8) part.mark = mark(origin_of(part.mark), r.code, part.mark);
        if (r.kind == PartRepair::Kind::empty_arguments || r.kind == PartRepair::Kind::media_text)
            part.mark = mark(Origin::repair, r.code, part.mark);
    }

    /// True if nothing but this part changed.
    bool edit_part(M& message, std::size_t at, const PartRepair& r, PartFinder<M>& parts) const {
        if (r.kind == PartRepair::Kind::rename) {
            if (parts.rename_call_in_place(message, at, r.call_id, r.tool)) return true;
            if constexpr (HasRenameCall<M>) message_traits<M>::rename_call(message, at, r.call_id, r.tool);
            return false;
        }
        if (r.kind == PartRepair::Kind::erase) return message_traits<M>::erase_part(message, at), false;
        std::string text(r.kind == PartRepair::Kind::media_text ? media_text(language_) : "{}");
        if (r.kind == PartRepair::Kind::valid_utf8)
            parts.visit(message, at, [&](const PartView& part) { text = to_valid_utf8(part.text); });
        if (parts.set_text_in_place(message, at, text)) return true;
        return message_traits<M>::set_text(message, at, text), false;
    }

    /// The part of `known` that the edit of part `at` took away; their number if none.
    [[nodiscard]] static std::size_t find_gone(const std::vector<PartInfo>& known, std::size_t at, const PartRepair& r,
                                               const M& message) {
        if (r.kind != PartRepair::Kind::erase && r.kind != PartRepair::Kind::media_text) return known.size();
        return detail::find_gone(known, count_parts(message), at, r.kind == PartRepair::Kind::media_text);
    }

    [[nodiscard]] std::vector<M> spoken_message(const RepairedMessage& m) const {
        const Role role = m.kind == RepairedMessage::Kind::user ? Role::user : Role::assistant;
        std::string text = m.source == RepairedMessage::none ? m.text : to_valid_utf8(text_of(messages_[m.source]));
        std::vector<M> messages;
        if (!text.empty()) messages.push_back(message_traits<M>::make(role, text));
        return messages;
    }

    /// Of one message at a time: its results follow each other.
    [[nodiscard]] const std::vector<Part>& parts_from(std::size_t source) {
        if (source_ != source) parts_ = parts_of(messages_[source]);
        source_ = source;
        return parts_;
    }

    [[nodiscard]] std::vector<M> result_messages(const RepairedMessage& m) {
        if constexpr (ToolMessage<M>) {
            ToolResult result{m.call_id, m.tool, {}, m.is_error};
            if (m.from.empty()) result.parts.push_back({.kind = PartKind::tool_result, .text = m.text});
            for (const auto& [source, p] : m.from) {
                Part part = parts_from(source)[p];
                part.text = to_valid_utf8(part.text);
                if (part.kind == PartKind::media && text_only_)
                    part = {.kind = PartKind::tool_result, .text = std::string(media_text(language_))};
                result.parts.push_back(std::move(part));
            }
            return message_traits<M>::make_tool_results({&result, 1});
        } else {
            return {};
        }
    }

    [[nodiscard]] MessageInfo info_of_new(const RepairedMessage& m, const M& message) {
        MessageInfo info = describe(message);
        info.serial = next_serial_++;
        const bool is_theirs = !m.from.empty() && info.has(PartKind::tool_result);
        info.mark = mark(is_theirs ? Origin::original : Origin::repair, m.code, nullptr);
        for (std::size_t p = 0; is_theirs && p < m.from.size() && p < info.parts.size(); ++p)
            info.parts[p].mark = infos_[m.from[p].first].parts[m.from[p].second].mark;
        return info;
    }

    /// Rounds, turns and calls of the messages that changed, from the list as it is now.
    void join() {
        std::vector<MessageInfo> all;
        for (const Entry& entry : entries_) {
            if (entry.source != RepairedMessage::none) all.push_back(infos_[entry.source]);
            for (const MessageInfo& info : entry.infos) {
                all.push_back(info);
                if (info.serial < first_new_) continue;
                all.back().turn = all.size() > 1 ? all[all.size() - 2].turn : 0;
                all.back().call_index = all.size() > 1 ? all[all.size() - 2].call_index : 0;
            }
        }
        join_groups(all);
        auto joined = all.begin();
        for (Entry& entry : entries_) {
            if (entry.source != RepairedMessage::none) {
                if (joined->group != infos_[entry.source].group) {
                    entry.messages.push_back(messages_[entry.source]);
                    entry.infos.push_back(std::move(*joined));
                    entry.source = RepairedMessage::none;
                }
                ++joined;
                continue;
            }
            for (MessageInfo& info : entry.infos) info = std::move(*joined++);
        }
    }

    std::span<const M> messages_;
    std::span<const MessageInfo> infos_;
    bool text_only_;
    Language language_;
    Timestamp when_;
    Serial next_serial_;
    Serial first_new_ = next_serial_;
    std::vector<Entry> entries_{};
    std::size_t source_ = RepairedMessage::none;
    std::vector<Part> parts_{};
};

}  // namespace detail

template <AgentMessage M>
RepairResult Conversation<M>::repair(const ValidityProfile& profile, const RepairOptions& options) {
    return repair(profile, options, EditEnvironment{});
}

template <AgentMessage M>
RepairResult Conversation<M>::repair(const ValidityProfile& profile, const RepairOptions& options,
                                     const EditEnvironment& environment) {
    require_outside_hook("repair");
    if (size() == 0) return {.remaining = validate(outline(), profile)};
    return mend(profile, options, environment);
}

template <AgentMessage M>
RepairResult Conversation<M>::mend(const ValidityProfile& profile, const RepairOptions& options,
                                   const EditEnvironment& environment) {
    const std::size_t c = detail::column_of(history_, environment.counter);
    RepairResult result{.remaining = validate(outline(), profile), .tokens_before = history_.side.columns[c].messages};
    result.tokens_after = result.tokens_before;
    if (environment.report != nullptr) environment.report->outcome = Outcome::undue;
    const bool is_due = options.for_request && detail::is_half_answered(outline());
    if (result.remaining.empty() && !is_due) return result;
    const detail::RepairPlan plan = detail::plan_repair(
        outline(), profile, options, {.makes_results = ToolMessage<M>, .renames_calls = HasRenameCall<M>});
    result.outcome = Outcome::nothing;
    if (environment.report != nullptr) {
        environment.report->outcome = Outcome::nothing;
        environment.report->more().violations_left = static_cast<std::int64_t>(result.remaining.size());
    }
    if (plan.repairs.empty()) return result;
    detail::RepairedList<M> list(history_.messages, history_.side.infos, plan, profile, options.language,
                                 environment.clock->now(), history_.side.counters.next_serial);
    std::vector<Splice<M>> splices = list.to_splices();
    if (!is_change(splices)) return result;
    for (Splice<M>& s : splices) {
        for (std::size_t i = 0; i < s.infos.size(); ++i) {
            history_.side.names.assign_to(s.infos[i]);
            detail::count_into(s.infos[i], s.messages[i], history_.side.columns);
        }
    }
    result.repairs = plan.repairs;
    result.first_changed = splices.front().first;
    result.remaining = validate_with(splices, profile);
    result.tokens_after = tokens_with(splices, c);
    result.outcome = environment.dry_run ? Outcome::planned : Outcome::committed;
    if (environment.report != nullptr) fill_report(result, c, *environment.report);
    if (environment.dry_run) return result;
    detail::require_budget(environment, detail::repair_name, 0);
    auto entry = detail::new_entry(history_, JournalRecord::Kind::edit, std::string(detail::repair_name),
                                   std::string(plan.repairs.front().code));
    entry->when = environment.clock->now();
    entry->tokens_before = result.tokens_before;
    entry->tokens_after = result.tokens_after;
    const bool is_prefix_edit = detail::commit(history_, splices, std::move(entry));
    history_.side.counters.next_serial = std::max(history_.side.counters.next_serial, list.next_serial());
    if (environment.report != nullptr)
        environment.report->details->prefix_edited = environment.on_prefix_edit && is_prefix_edit;
    return result;
}

/// A message type may not let go of a part, such as an opaque one.
template <AgentMessage M>
bool Conversation<M>::is_change(const std::vector<Splice<M>>& splices) const {
    return std::ranges::any_of(splices, [&](const Splice<M>& s) {
        return !std::ranges::equal(s.infos, std::span(history_.side.infos).subspan(s.first, s.count), {},
                                   &MessageInfo::fingerprint, &MessageInfo::fingerprint);
    });
}

template <AgentMessage M>
void Conversation<M>::fill_report(const RepairResult& result, std::size_t c, StageReport& report) const {
    report.outcome = result.outcome;
    StageDetails& details = report.more();
    details.tokens_before = result.tokens_before;
    details.tokens_after = result.tokens_after;
    details.first_changed = result.first_changed;
    details.repairs = result.repairs;
    details.violations_left = static_cast<std::int64_t>(result.remaining.size());
    for (std::size_t i = *result.first_changed; i < std::min(history_.side.counters.sent, size()); ++i)
        details.cached_tokens_invalidated =
            add_saturating(details.cached_tokens_invalidated, history_.side.infos[i].tokens[c]);
}

/// The violations that there would be after `splices`.
template <AgentMessage M>
std::vector<Violation> Conversation<M>::validate_with(const std::vector<Splice<M>>& splices,
                                                      const ValidityProfile& profile) const {
    std::vector<const MessageInfo*> infos;
    std::size_t old = 0;
    const auto keep_until = [&](std::size_t end) {
        for (; old < end; ++old) infos.push_back(&history_.side.infos[old]);
    };
    for (const Splice<M>& s : splices) {
        keep_until(s.first);
        for (const MessageInfo& info : s.infos) infos.push_back(&info);
        old += s.count;
    }
    keep_until(history_.side.infos.size());
    return validate(Outline(std::span<const MessageInfo* const>(infos)), profile);
}

template <AgentMessage M>
std::int64_t Conversation<M>::tokens_with(const std::vector<Splice<M>>& splices, std::size_t c) const {
    std::int64_t tokens = history_.side.columns[c].messages;
    for (const Splice<M>& s : splices) {
        for (std::size_t i = 0; i < s.count; ++i) tokens -= history_.side.infos[s.first + i].tokens[c];
        for (const MessageInfo& info : s.infos) tokens = add_saturating(tokens, info.tokens[c]);
    }
    return tokens;
}

}  // namespace whittle::inline v0
