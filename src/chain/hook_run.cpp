#include "whittle/chain/detail/hook_run.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0 {

CallbackContext HookTurn::callback_context() const {
    return {.conversation_id = side_.id, .round_serial = outline().newest_round_serial(), .tools = tools, .stop = stop};
}

EditEnvironment HookTurn::environment() const {
    return {.counter = config.token_counter,
            .storage = config.storage,
            .validity = &config.profile.validity,
            .verify = config.verify,
            .clock = config.clock,
            .dry_run = config.dry_run,
            .stop = stop,
            .budget = &budget,
            .pins = &config.pins,
            .hook = report.hook,
            .before_commit = config.dry_run ? nullptr : &config.before_commit,
            .report = &report,
            .events = &on_event,
            .thinking_on_prefix_edit =
                config.profile.thinking_bound_to_prefix ? std::optional(config.thinking_on_prefix_edit) : std::nullopt};
}

std::int64_t HookTurn::tokens_above_target() const {
    const std::int64_t above = sub_saturating(report.count, report.threshold);
    const TokenScale scale = counted().scale_to(report.count);
    const std::int64_t counted = scale.to_counted(above);
    return scale.to_request(counted) < above ? add_saturating(counted, 1) : counted;
}

void HookTurn::warn_above_trigger(std::string text, std::int64_t before, std::int64_t after) {
    Notes told = notes();
    if (!config.dry_run && !told.integer("above_reported")) {
        told.set("above_reported", std::int64_t{1});
        emit(on_event,
             {Event::Level::warning, report.middleware, "still_above_trigger", text, conversation_id(), before, after});
    }
    if (std::string& error = report.ensure_details().error; error.empty()) error = std::move(text);
}

std::int64_t HookTurn::tokens_of(std::size_t message) const {
    const auto column = side_.columns.find(config.token_counter->id());
    const MessageInfo& info = side_.infos[message];
    return column && *column < info.tokens_by_counter.size() ? info.tokens_by_counter[*column] : 0;
}

std::int64_t HookTurn::known_window() const {
    return detail::known_window({side_.notes, detail::chain_notes}, config.profile);
}

namespace detail {

std::int64_t known_window(const Notes& notes, const ModelProfile& profile) {
    const std::int64_t learnt = notes.integer("window").value_or(0);
    const std::int64_t configured = profile.context_window;
    return configured > 0 && learnt > 0 ? std::min(configured, learnt) : std::max(configured, learnt);
}

HookBudget budget_of(const ChainConfig& config, UnixMillis now) noexcept {
    const HookLimits& limits = config.limits;
    return {limits.model_calls, limits.store_bytes > 0 ? limits.store_bytes : INT64_MAX,
            add_saturating(now, limits.deadline.count())};
}

OverflowGoal::OverflowGoal(const Overflow& overflow, Notes notes, const ModelProfile& profile) {
    const std::int64_t known = known_window(notes, profile);
    const std::int64_t window = overflow.context_limit_tokens > 0 ? overflow.context_limit_tokens : known;
    if (overflow.context_limit_tokens > 0)
        notes.set("window", known > 0 ? std::min(known, overflow.context_limit_tokens) : overflow.context_limit_tokens);
    limit_ = sub_saturating(window, profile.output_reserve);
    used_ = overflow.requested_tokens;
    if (used_ <= 0 && window > 0) used_ = add_saturating(window, 1);
}

bool OverflowGoal::is_missed(HookTurn& turn) {
    const std::int64_t tokens = turn.context_tokens();
    if (ratio_ == 0.0)
        ratio_ = tokens > 0 ? std::max(1.0, static_cast<double>(used_) / static_cast<double>(tokens)) : 1.0;
    const std::int64_t fitting = limit_ > 0 ? to_int64(static_cast<double>(limit_) / ratio_) : tokens / 2;
    turn.report.count = tokens;
    turn.report.threshold = std::max<std::int64_t>(1, fitting);
    return limit_ <= 0 || tokens > fitting;
}

namespace {

/// The index of a message that `compact_now` was told; `otherwise` where it was told none.
std::size_t index_told(const Outline& outline, std::string_view option, std::optional<Serial> serial,
                       std::size_t otherwise) {
    if (!serial) return otherwise;
    if (const auto index = outline.index_of(*serial)) return *index;
    throw Error(Errc::invalid_argument,
                fmt::format("compact_now: {}: no message has the serial {}; the outline of the conversation lists them",
                            option, *serial));
}

/// Messages outside of the range, as pins; what comes during the hook is inside.
std::function<bool(const MessageInfo&)> pins_outside(const Outline& outline, MessageRange range,
                                                     std::function<bool(const MessageInfo&)> pins) {
    std::unordered_set<Serial> outside;
    for (std::size_t i = 0; i < outline.size(); ++i) {
        if (!range.contains(i)) outside.insert(outline[i].serial);
    }
    return [outside = std::move(outside), pins = std::move(pins)](const MessageInfo& info) {
        return outside.contains(info.serial) || (pins && pins(info));
    };
}

}  // namespace

void limit_to(ChainConfig& config, const CompactOptions& options, const Outline& outline) {
    if (options.target_tokens < 0)
        throw Error(Errc::invalid_argument,
                    fmt::format("compact_now: target_tokens: {} is less than 0; 0 is half", options.target_tokens));
    const MessageRange range{index_told(outline, "from", options.from, 0),
                             index_told(outline, "stop_before", options.stop_before, outline.size())};
    if (range.begin >= range.end && outline.size() > 0)
        throw Error(Errc::invalid_argument,
                    fmt::format("compact_now: from message {} up to message {}: there is nothing between", range.begin,
                                range.end));
    if (options.from || options.stop_before) config.pins = pins_outside(outline, range, std::move(config.pins));
    if (options.limits) {
        Problems problems;
        check_hook_limits(*options.limits, problems);
        problems.throw_if_errors("compact_now");
        config.limits = *options.limits;
    }
    config.explain = config.explain || options.dry_run;
    config.dry_run = config.dry_run || options.dry_run;
}

bool is_above_target(HookTurn& turn, std::int64_t& target) {
    const std::int64_t tokens = turn.context_tokens();
    if (target == 0) target = std::max<std::int64_t>(1, tokens / 2);
    turn.report.count = tokens;
    turn.report.threshold = target;
    if (tokens <= target) turn.report.outcome = Outcome::not_due;
    return tokens > target;
}

HookRun::HookRun(const Setup& setup, Hook hook) : setup_(setup), hook_(hook), started_(setup.config.clock->now()) {
    budget_ = budget_of(setup.config, started_);
    setup_.is_in_hook = true;
}

HookRun::~HookRun() { setup_.is_in_hook = false; }

void HookRun::run() {
    Report& report = setup_.report;
    report.hook = hook_;
    if (report.conversation != setup_.side.id) report.conversation = setup_.side.id;
    report.stages.clear();
    report.names = setup_.names;
    report.stages.reserve(setup_.names->size());  // what can fail comes before the first commit
    report.tokens_before = try_to_count().total;
    start_ = savepoint();
    const bool is_request = hook_ == Hook::before_model || hook_ == Hook::on_overflow;
    for (std::size_t stage = 0; is_request && stage < setup_.own; ++stage) run_stage(stage, false);
    const bool is_backward = hook_ == Hook::after_model || hook_ == Hook::after_agent;
    const std::size_t size = setup_.names->size();
    for (std::size_t i = setup_.own; i < size; ++i) run_stage(is_backward ? size - 1 - (i - setup_.own) : i, true);
    if (hook_ == Hook::before_model || hook_ == Hook::compact_now) fit_window();
    settle(start_.journal);
    finish(try_to_count());
    if (is_request) setup_.side.counters.sent = setup_.side.infos.size();
}

/// A request known to be above a known window is no request: what stages do about a refused one is done before it is
/// sent. A server that cuts in silence never says that it was needed. Not tried again while nothing has changed.
void HookRun::fit_window() {
    const ChainConfig& config = setup_.config;
    Notes notes{setup_.side.notes, chain_notes};
    const std::int64_t limit = sub_saturating(known_window(notes, config.profile), config.profile.output_reserve);
    if (limit <= 0 || config.dry_run) return;
    const auto state = [&](std::int64_t tokens) { return fmt::format("{} {}", setup_.side.infos.size(), tokens); };
    const std::int64_t tokens = try_to_count().total;
    if (tokens <= limit) return notes.erase("above_window");
    if (notes.text("above_window") == state(tokens)) return;
    goal_.emplace(Overflow{.requested_tokens = tokens}, notes, config.profile);
    for (std::size_t stage = setup_.own; stage < setup_.names->size(); ++stage) run_stage(stage, false);
    goal_.reset();
    const std::int64_t after = try_to_count().total;
    if (after <= limit) return notes.erase("above_window");
    notes.set("above_window", state(after));
    const std::string text = fmt::format(
        "the request has {} tokens, the model's window has room for {}: what could go has gone, the rest is pinned, "
        "system text, tools, or the newest messages",
        after, limit);
    emit(setup_.events, {Event::Level::warning, "chain", "above_window", text, setup_.side.id, tokens, after});
}

void HookRun::run_stage(std::size_t stage, bool keeps_not_applicable) {
    const Savepoint before = savepoint();
    StageReport& report = setup_.report.stages.emplace_back();
    report.middleware = (*setup_.names)[stage];
    report.hook = is_fitting() ? Hook::on_overflow : hook_;
    report.counter = setup_.config.token_counter->id();
    try {
        call(stage, report);
        if (report.outcome == Outcome::vetoed) note_veto(report);
    } catch (...) {
        take_back(before);
    }
    if (!keeps_not_applicable && report.outcome == Outcome::not_applicable) setup_.report.stages.pop_back();
}

/// After the newest stage has thrown.
void HookRun::take_back(const Savepoint& before) {
    const bool is_thrown = setup_.config.on_error == OnError::propagate;
    roll_back(is_thrown ? start_ : before);
    const std::string text = current_error_text();
    StageReport& failed = setup_.report.stages.back();
    failed.outcome = Outcome::failed;
    try {
        detail::take_back(failed, text);
        if (is_thrown) take_back_commits(setup_.report);
    } catch (...) {
    }
    if (is_thrown) throw;
    emit_failure(setup_.events, failed.middleware, setup_.side.id, text);
}

ContextCount HookRun::try_to_count() {
    try {
        return count();
    } catch (...) {  // a user's counter
        if (setup_.config.on_error == OnError::propagate) throw;
        emit_failure(setup_.events, "token_counter", setup_.side.id, current_error_text());
        return {};
    }
}

/// The commits stand, whatever fails here.
void HookRun::finish(const ContextCount& after) {
    Report& report = setup_.report;
    report.tokens_after = after.total;
    report.calibration = after.calibration;
    report.calibration_relative_error = after.spread;
    const auto pass_over_failure = [&](std::string_view source, const auto& work) {
        try {
            work();
        } catch (...) {
            emit_failure(setup_.events, source, setup_.side.id, current_error_text());
        }
    };
    pass_over_failure("clock", [&] { report.milliseconds = setup_.config.clock->now() - started_; });
    if (setup_.on_report) pass_over_failure("on_report", [&] { setup_.on_report(report); });
}

}  // namespace detail

}  // namespace whittle::inline v0
