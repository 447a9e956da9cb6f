#pragma once

// Definition of replay; included by replay.hpp.

#include "replay/replay.hpp"
#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/platform.hpp"
#include "whittle/conversation/detail/host_results.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0::detail {

/// The violations of requests that the recording does not have, each once.
class ViolationLog {
public:
    /// Whether all of these were met before, here or in the recording.
    [[nodiscard]] bool contains(const std::vector<Violation>& after) const;
    void add(std::string_view trajectory, std::int64_t call, const std::vector<Violation>& before,
             const std::vector<Violation>& after);
    [[nodiscard]] std::vector<ReplayViolation> take() { return std::move(found_); }

private:
    std::set<std::pair<Rule, Serial>> known_{};
    std::set<std::pair<Rule, Serial>> recorded_{};
    std::vector<ReplayViolation> found_{};
};

/// What a report says of stores and failures.
void add_report(ReplayTotals& totals, std::string_view trajectory, const Report& report);

/// Counts what fails where a result arrives, which no report has. A middleware that gives up because the store refused
/// is one failure.
class ArrivalFailures {
public:
    ArrivalFailures(ReplayTotals& totals, std::string_view trajectory) : totals_(totals), trajectory_(trajectory) {}
    void operator()(const Event& event);

private:
    ReplayTotals& totals_;
    std::string_view trajectory_;
    bool was_write_ = false;
};

/// Throws Error(cancelled) once a stop is requested.
void throw_if_stopped(std::string_view trajectory, const StopToken& stop);

/// Text bytes of all parts.
[[nodiscard]] std::int64_t bytes_of(const MessageInfo& info) noexcept;

template <ToolMessage M>
class Replayer {
public:
    Replayer(const Recording<M>& recording, const Chain<M>& chain, const ReplayOptions<M>& options);
    ReplayTotals run();

private:
    void check_cancelled() const { throw_if_stopped(recording_.id, options_.stop); }
    void begin_run();
    void end_run();
    [[nodiscard]] std::size_t count_batch(std::size_t first) const;
    void take(std::span<const M> batch);
    void take_call(const M& message);
    void take_results(std::span<const M> messages);
    void push(const M& message);
    void after_hook(const Report& report);
    void account();
    void notify_request(const CacheAccount& raw, const CacheAccount& sent);
    [[nodiscard]] bool has_to_check();
    void check_validity();
    void count_edits();
    void undo_all();
    [[nodiscard]] std::vector<double> call_times() const;
    void set_clock(std::size_t message);
    [[nodiscard]] std::vector<bool> as_recorded() const;

    const Recording<M>& recording_;
    const Chain<M>& chain_;
    const ReplayOptions<M>& options_;
    HookRequest<M> request_;
    Conversation<M> conversation_;
    ReplayTotals totals_{};
    ViolationLog violations_{};
    std::shared_ptr<const TokenCounter> counter_;  // the chain's, stopped in the midst of a message too
    std::vector<MessageInfo> raw_infos_{};         // with the serials that the messages have in the conversation
    RequestPieces<M> raw_;
    RequestPieces<M> sent_;
    std::vector<PrefixElement> previous_{};  // of the request before, without overhead
    PrefixCache raw_cache_;
    PrefixCache sent_cache_;
    std::vector<double> times_;
    std::optional<UnixMillis> newest_time_{};  // that the chain's clock was set to
    bool in_run_ = false;
    bool replaced_results_ = false;
    std::uint64_t checked_version_ = 0;  // of the conversation, when its rules were checked last
    std::size_t unchecked_ = 0;          // requests since then
};

template <ToolMessage M>
Replayer<M>::Replayer(const Recording<M>& recording, const Chain<M>& chain, const ReplayOptions<M>& options)
    : recording_(recording),
      chain_(chain),
      options_(options),
      request_{recording.tools, recording.system, nullptr, options.stop},
      conversation_(std::string(recording.id)),
      counter_(
          cancellable_counter(chain.config().token_counter,
                              [id = std::string(recording.id), stop = options.stop] { throw_if_stopped(id, stop); })),
      raw_(counter_, overhead_piece(recording.system, recording.tools, *counter_)),
      sent_(raw_),
      raw_cache_(chain.config().profile.cache),
      sent_cache_(chain.config().profile.cache),
      times_(call_times()) {}

/// A call happens when its reply was recorded.
template <ToolMessage M>
std::vector<double> Replayer<M>::call_times() const {
    std::vector<std::optional<double>> times;
    for (std::size_t i = 0; i < recording_.messages.size(); ++i) {
        if (message_traits<M>::role(recording_.messages[i]) != Role::assistant) continue;
        times.push_back(i < recording_.seconds.size() ? recording_.seconds[i] : std::nullopt);
    }
    return fill_times(times);
}

/// Where a message has no time, or one before that of an earlier message, the clock stays. Each recording has a time of
/// its own.
template <ToolMessage M>
void Replayer<M>::set_clock(std::size_t message) {
    if (!options_.clock || message >= recording_.seconds.size() || !recording_.seconds[message]) return;
    const UnixMillis now = to_int64(*recording_.seconds[message] * 1'000.0);
    if (newest_time_ && now < *newest_time_) return;
    newest_time_ = now;
    options_.clock->set(now);
}

template <ToolMessage M>
ReplayTotals Replayer<M>::run() {
    totals_.trajectories = 1;
    for (std::size_t i = 0; i < recording_.messages.size();) {
        check_cancelled();
        const std::span<const M> next = recording_.messages.subspan(i, count_batch(i));
        for (const M& message : next) raw_.push_back(message);
        const bool is_reply = message_traits<M>::role(next.front()) == Role::assistant;
        if (!is_reply) set_clock(i + next.size() - 1);
        take(next);
        i += next.size();
    }
    if (unchecked_ > 0) check_validity();
    end_run();
    if (options_.on_end) options_.on_end(conversation_);
    count_edits();
    totals_.violations = violations_.take();
    undo_all();
    return std::move(totals_);
}

template <ToolMessage M>
void Replayer<M>::begin_run() {
    if (in_run_) return;
    in_run_ = true;
    conversation_.begin_run();
    after_hook(chain_.before_agent(conversation_, request_));
}

template <ToolMessage M>
void Replayer<M>::end_run() {
    if (!in_run_) return;
    in_run_ = false;
    const bool is_open = conversation_.outline().open_round_begin().has_value();
    after_hook(chain_.after_agent(conversation_, is_open ? RunOutcome::stopped : RunOutcome::answered, request_));
}

/// Results in a row came back from one reply.
template <ToolMessage M>
std::size_t Replayer<M>::count_batch(std::size_t first) const {
    const auto rest = recording_.messages.subspan(first);
    const auto end = std::ranges::find_if_not(rest, holds_results<M>);
    return std::max<std::size_t>(1, static_cast<std::size_t>(end - rest.begin()));
}

template <ToolMessage M>
void Replayer<M>::take(std::span<const M> batch) {
    const M& message = batch.front();
    const Role role = message_traits<M>::role(message);
    if (role == Role::assistant) return take_call(message);
    if (holds_results(message)) return take_results(batch);
    if (starts_turn(describe(message))) {
        end_run();
        conversation_.begin_turn();
    }
    push(message);
}

template <ToolMessage M>
void Replayer<M>::take_call(const M& message) {
    begin_run();
    after_hook(chain_.before_model(conversation_, request_));
    account();
    totals_.output = add_saturating(totals_.output, raw_.all().back().tokens);
    set_clock(raw_infos_.size());
    push(message);
    after_hook(chain_.after_model(conversation_, request_));
}

/// Through the chain's tool wraps; in the recording's own messages only texts of results change.
template <ToolMessage M>
void Replayer<M>::take_results(std::span<const M> messages) {
    std::size_t at = conversation_.size();
    conversation_.push_tool_results(
        messages, chain_.wrap_results(conversation_, messages, request_, ArrivalFailures(totals_, recording_.id)));
    for (const M& message : messages) {
        check_cancelled();
        const MessageInfo& shown = conversation_.outline()[at++];
        MessageInfo info = describe(message);
        replaced_results_ = replaced_results_ || info.fingerprint != shown.fingerprint;
        info.serial = shown.serial;
        info.round_serial = shown.round_serial;
        take_names_of_results(info, shown);
        raw_infos_.push_back(std::move(info));
    }
    sent_.update(conversation_);
}

/// Empty usage: what a provider once billed must not move the triggers.
template <ToolMessage M>
void Replayer<M>::push(const M& message) {
    conversation_.push_back(message, Usage{});
    raw_infos_.push_back(conversation_.outline()[conversation_.size() - 1]);
    sent_.update(conversation_);
}

template <ToolMessage M>
void Replayer<M>::after_hook(const Report& report) {
    add_report(totals_, recording_.id, report);
    sent_.update(conversation_);
    if (options_.on_report) options_.on_report(report);
}

template <ToolMessage M>
void Replayer<M>::account() {
    const ModelProfile& profile = chain_.config().profile;
    const double now = times_[static_cast<std::size_t>(totals_.calls)];
    const CacheAccount raw = raw_cache_.add(raw_.all().first(raw_.all().size() - 1), now);  // without the reply itself
    const CacheAccount sent = sent_cache_.add(sent_.all(), now);
    totals_.raw.add(raw, profile);
    totals_.sent.add(sent, profile);
    if (has_to_check()) check_validity();
    if (options_.on_request) notify_request(raw, sent);
    ++totals_.calls;
}

template <ToolMessage M>
void Replayer<M>::notify_request(const CacheAccount& raw, const CacheAccount& sent) {
    const auto pieces = sent_.messages();
    const auto keep = static_cast<std::size_t>(std::ranges::mismatch(previous_, pieces).in1 - previous_.begin());
    const std::optional<std::size_t> edited = keep < previous_.size() ? std::optional(keep) : std::nullopt;
    previous_.resize(keep);
    previous_.insert(previous_.end(), pieces.begin() + static_cast<std::ptrdiff_t>(keep), pieces.end());
    options_.on_request({recording_.id, totals_.calls, conversation_.messages(), sent.tokens, raw.tokens, edited, keep,
                         conversation_, raw_infos_, sent});
}

/// A request that nobody edited breaks no more rules than the recording. A long one that only grew since the last check
/// breaks none that a later check would not find, since messages stay until the next edit: it is checked now and then,
/// so that a session of many calls takes time in proportion to what is edited.
template <ToolMessage M>
bool Replayer<M>::has_to_check() {
    constexpr std::size_t long_request = 1'000;  // messages
    constexpr std::size_t max_unchecked = 32;    // requests
    if (!replaced_results_ && conversation_.journal().empty()) return false;
    ++unchecked_;
    return conversation_.size() < long_request || unchecked_ >= max_unchecked ||
           !conversation_.replacements_since(checked_version_).empty();
}

/// The recording itself is looked at only where there is a violation that it may have as well.
template <ToolMessage M>
void Replayer<M>::check_validity() {
    unchecked_ = 0;
    checked_version_ = conversation_.version();
    const auto violations_of = [&](const Outline& outline) {
        return validate(outline, chain_.config().profile.validity, std::nullopt, [&] { check_cancelled(); });
    };
    const std::vector<Violation> sent = violations_of(conversation_.outline());
    if (violations_.contains(sent)) return;
    violations_.add(recording_.id, totals_.calls, violations_of(Outline(std::span<const MessageInfo>(raw_infos_))),
                    sent);
}

template <ToolMessage M>
void Replayer<M>::count_edits() {
    using Kind = typename JournalEntry<M>::Kind;
    for (const auto& entry : conversation_.journal()) {
        check_cancelled();
        if (entry->kind == Kind::edit) ++totals_.commits;
        for (const Splice<M>& splice : entry->undo) {
            totals_.edits[entry->reason] += static_cast<std::int64_t>(std::max(splice.count, splice.messages.size()));
        }
        if (entry->kind != Kind::tool_return) continue;
        for (const std::string& key :
             std::set<std::string>(entry->referenced_keys.begin(), entry->referenced_keys.end())) {
            check_cancelled();
            const auto object = conversation_.objects()->find(key, chain_.config().storage);
            const auto info = object && object->storage ? object->storage->stat(key) : std::nullopt;
            if (info) totals_.bytes_stored = add_saturating(totals_.bytes_stored, info->bytes);
        }
    }
}

/// For each recorded message, whether the conversation has it now with the same role and parts.
template <ToolMessage M>
std::vector<bool> Replayer<M>::as_recorded() const {
    std::unordered_map<Serial, Hash128> now;
    for (std::size_t i = 0; i < conversation_.size(); ++i)
        now[conversation_.outline()[i].serial] = conversation_.outline()[i].fingerprint;
    std::vector<bool> same;
    for (const MessageInfo& info : raw_infos_) {
        check_cancelled();
        const auto found = now.find(info.serial);
        same.push_back(found != now.end() && found->second == info.fingerprint);
    }
    return same;
}

template <ToolMessage M>
void Replayer<M>::undo_all() {
    const std::vector<bool> before = as_recorded();
    try {
        while (conversation_.undo([&] { check_cancelled(); })) check_cancelled();
    } catch (const std::exception& error) {
        check_cancelled();
        totals_.add_error(std::string(recording_.id) + ": " + error.what());
    }
    const std::vector<bool> after = as_recorded();
    for (std::size_t i = 0; i < raw_infos_.size(); ++i) {
        if (before[i]) continue;
        totals_.changed_bytes += bytes_of(raw_infos_[i]);
        if (after[i]) totals_.restored_bytes += bytes_of(raw_infos_[i]);
    }
    RequestPieces<M> undone(counter_, raw_.all().front());
    undone.update(conversation_);
    if (!std::ranges::equal(undone.all(), raw_.all())) ++totals_.not_undone;
}

}  // namespace whittle::inline v0::detail

namespace whittle::inline v0 {

template <ToolMessage M>
ReplayTotals replay(const Recording<M>& recording, const Chain<M>& chain, const ReplayOptions<M>& options) {
    return detail::Replayer<M>(recording, chain, options).run();
}

}  // namespace whittle::inline v0

// compiled.cpp has them, for those whose message type is known here.
namespace whittle::inline v0 {

extern template class detail::Replayer<ChatMessage>;
#ifdef WHITTLE_MESSAGE_TYPE_1
extern template class detail::Replayer<WHITTLE_MESSAGE_TYPE_1>;
#endif
#ifdef WHITTLE_MESSAGE_TYPE_2
extern template class detail::Replayer<WHITTLE_MESSAGE_TYPE_2>;
#endif

}  // namespace whittle::inline v0
