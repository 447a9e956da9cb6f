#pragma once

#include "evaluation/detail/part_collector.hpp"
#include "masked.hpp"
#include "replay/replay.hpp"
#include "session_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::cli {

/// Watches a replay and writes down what a report shows of it. Looks at a whole request only where something was
/// edited. The chain has to run with `ChainConfig::explain`.
template <AgentMessage M>
class SessionReporter {
public:
    /// `recording` and `chain` have to outlive it. `is_masked`: texts without what looks like a secret.
    SessionReporter(const Recording<M>& recording, const Chain<M>& chain, std::string chain_name, bool is_masked)
        : recording_(recording),
          counter_(chain.config().token_counter),
          is_masked_(is_masked),
          report_{.chain = std::move(chain_name), .counter = std::string(counter_->id())} {}

    void on_report(const Report& report) { log_.note(report); }

    /// Call it for each request.
    void on_request(const ReplayRequest<M>& request) {
        while (arrived_ < request.recorded.size()) take_arrival(request);
        report_.calls.push_back({.edits = take_edits(request)});
        log_.next_call();
    }

    /// After the replay, without what the calls cost: `add_call_costs` puts it there. Texts take at most `text_bytes`
    /// of the report's data.
    [[nodiscard]] SessionReport take(std::size_t text_bytes) {
        report_.rules = rules_of(report_.edits);
        bound_lists(report_);
        fit_session_reports({&report_}, text_bytes);
        return std::move(report_);
    }

private:
    using Places = std::unordered_map<Serial, std::size_t>;

    [[nodiscard]] ReportText text_for_report(const M& m) const {
        std::string text;
        for (evaluation::Message& one : evaluation::detail::messages_of(m)) {
            one.content = secrets_.hidden(one.content);
            for (evaluation::ToolCall& call : one.calls) call.arguments = secrets_.hidden(call.arguments);
            text += (text.empty() ? "" : "\n") + evaluation::text_of(one);
        }
        if (text.starts_with('\n')) text.erase(0, 1);  // calls without words in front
        return report_text(text, is_masked_);
    }

    void take_arrival(const ReplayRequest<M>& request) {
        const std::size_t i = arrived_++;
        secrets_.learn_all(std::span<const M>(&recording_.messages[i], 1));
        const MessageInfo& info = request.recorded[i];
        const std::int64_t tokens = count_message(recording_.messages[i], *counter_);
        indices_[info.serial] = report_.messages.size();
        tokens_now_.push_back(tokens);
        report_.messages.push_back({.recorded = i,
                                    .call = request.call,
                                    .role = std::string(whittle::to_string(info.role)),
                                    .tool = report_text(tool_of(info), is_masked_).head,
                                    .tokens = tokens,
                                    .text = text_for_report(recording_.messages[i])});
    }

    /// What the journal has that earlier requests did not show. Returns the number of messages.
    std::int64_t take_edits(const ReplayRequest<M>& request) {
        const auto& journal = request.conversation.journal();
        auto first = journal.end();
        while (first != journal.begin() && (*std::prev(first))->id > newest_entry_) --first;
        std::vector<Serial> touched;
        bool is_edit = false;
        for (; first != journal.end(); ++first) {
            newest_entry_ = (*first)->id;
            is_edit = is_edit || (*first)->kind != JournalRecord::Kind::tool_return;
            for (const Splice<M>& splice : (*first)->undo) {
                log_.note(request.call, **first, splice.infos);
                for (const MessageInfo& info : splice.infos) touched.push_back(info.serial);
            }
        }
        if (touched.empty() && !is_edit) return 0;
        if (is_edit) take_added(request);
        std::ranges::sort(touched);
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        return note_edits(request, touched);
    }

    /// Messages that the chain wrote.
    void take_added(const ReplayRequest<M>& request) {
        const Outline outline = request.conversation.outline();
        for (std::size_t place = 0; place < outline.size(); ++place) {
            const MessageInfo& info = outline[place];
            if (!indices_.try_emplace(info.serial, report_.messages.size()).second) continue;
            ReportedEdit added{.message = report_.messages.size(),
                               .edit = {.call = request.call},
                               .state = MessageState::added,
                               .tokens = count_message(request.messages[place], *counter_)};
            if (info.mark) added.edit.by = info.mark->by;
            if (info.mark) added.edit.reason = info.mark->reason;
            tokens_now_.push_back(added.tokens);
            report_.messages.push_back({.call = request.call,
                                        .role = std::string(whittle::to_string(info.role)),
                                        .tokens = added.tokens,
                                        .text = text_for_report(request.messages[place]),
                                        .is_edited = true});
            report_.edits.push_back(std::move(added));
        }
    }

    /// `touched`: sorted.
    std::int64_t note_edits(const ReplayRequest<M>& request, const std::vector<Serial>& touched) {
        const Outline outline = request.conversation.outline();
        Places places;
        Places covered;  // by the summary that stands for a message
        for (std::size_t place = outline.size(); place-- > 0 && places.size() < touched.size();) {
            const MessageInfo& info = outline[place];
            if (std::ranges::binary_search(touched, info.serial)) places[info.serial] = place;
            if (!info.mark) continue;
            for (const Serial serial : info.mark->covers) covered.try_emplace(serial, indices_.at(info.serial));
        }
        std::int64_t count = 0;
        for (const Serial serial : touched) count += note_edit(request, serial, places, covered) ? 1 : 0;
        return count;
    }

    bool note_edit(const ReplayRequest<M>& request, Serial serial, const Places& places, const Places& covered) {
        const auto index = indices_.find(serial);
        if (index == indices_.end()) return false;  // written and taken back between two requests
        ReportedMessage& message = report_.messages[index->second];
        ReportedEdit edit{.message = index->second, .tokens_before = tokens_now_[index->second]};
        std::vector<ExplainedEdit> edits = log_.edits_of(serial);
        if (const auto place = places.find(serial); place != places.end()) {
            const MessageInfo& now = request.conversation.outline()[place->second];
            const M& sent = request.messages[place->second];
            edit.state = is_as_recorded(request, message, now) ? MessageState::kept : state_of_edited(now);
            edit.tokens = count_message(sent, *counter_);
            edit.text = text_for_report(sent);
            name_wraps(edits, now);
        } else {
            const auto summary = covered.find(serial);
            edit.state = summary == covered.end() ? MessageState::removed : MessageState::folded;
            if (summary != covered.end()) edit.summary = summary->second;
        }
        if (!edits.empty()) edit.edit = edits.back();
        message.is_edited = true;
        tokens_now_[index->second] = edit.tokens;
        report_.edits.push_back(std::move(edit));
        return true;
    }

    static bool is_as_recorded(const ReplayRequest<M>& request, const ReportedMessage& message,
                               const MessageInfo& now) {
        return message.recorded && request.recorded[*message.recorded].fingerprint == now.fingerprint;
    }

    const Recording<M>& recording_;
    std::shared_ptr<const TokenCounter> counter_;
    bool is_masked_;
    KnownSecrets secrets_{is_masked_};
    SessionReport report_;
    EditLog log_{};
    std::size_t arrived_ = 0;  // recorded messages
    std::uint64_t newest_entry_ = 0;
    std::unordered_map<Serial, std::size_t> indices_{};  // of messages of the report
    std::vector<std::int64_t> tokens_now_{};             // of each of them
};

}  // namespace whittle::cli
