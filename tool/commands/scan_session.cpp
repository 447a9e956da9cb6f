#include "scan_session.hpp"

#include "agent_log.hpp"
#include "call_costs.hpp"
#include "call_progress.hpp"
#include "compared_chain.hpp"
#include "cost_basis.hpp"
#include "interrupt.hpp"
#include "run_in_parallel.hpp"
#include "shape.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::array<const char*, 3> scanned_presets{"recommended", "lossless", "cheap"};

/// Of each message its place among those of the figures, then the end.
template <JsonMessage M>
std::vector<std::size_t> places_of(const std::vector<M>& messages) {
    std::vector<std::size_t> places{0};
    for (const M& message : messages) places.push_back(places.back() + evaluation::detail::messages_of(message).size());
    return places;
}

template <JsonMessage M>
std::vector<evaluation::RecordedCut> cuts_of(const std::vector<std::size_t>& places,
                                             const std::vector<logs::Compaction>& compactions) {
    std::vector<evaluation::RecordedCut> cuts;
    for (const logs::Compaction& compaction : compactions) {
        evaluation::RecordedCut& cut = cuts.emplace_back();
        cut.before = places[compaction.before];
        for (const auto& message : compaction.kept)
            std::ranges::move(evaluation::detail::messages_of(M(message)), std::back_inserter(cut.kept));
    }
    return cuts;
}

/// The profile with the prices of one model, over that of its input.
evaluation::CostProfile with_prices(evaluation::CostProfile profile, const ModelPrices& prices) {
    const bool lives_an_hour = profile.cache.name == "anthropic_1h";
    profile.cache.read = prices.cache_read / prices.input;
    profile.cache.write = (lives_an_hour ? prices.cache_write_hour : prices.cache_write) / prices.input;
    profile.output = prices.output / prices.input;
    return profile;
}

/// Whether our count is of what was billed, and of what.
void compare_bill(const SessionBill& bill, const logs::Session& session, ScannedSession& scanned) {
    std::size_t replies = 0;
    std::size_t counted = 0;
    bool are_billed = true;
    for (const BilledCall& call : bill.calls) {
        if (!call.has_reply) continue;
        ++replies;
        if (!call.is_counted()) continue;
        ++counted;
        are_billed = are_billed && call.usage && input_of(*call.usage) > 0;
        scanned.comparable += call.usage.value_or(Usage{});
        scanned.compared_dollars += call.dollars.value_or(0);
    }
    scanned.is_comparable = counted > 0 && replies == session.calls.size() && are_billed;
    // Of runs whose calls were billed as one, as Copilot CLI has it, the bill is of these calls all the same.
    if (counted > 0 && scanned.compared_dollars == 0) scanned.compared_dollars = scanned.bill.dollars;
    if (!bill.sum) return;
    scanned.comparable = *bill.sum;
    scanned.compared_dollars = scanned.bill.dollars;
    scanned.is_comparable =
        counted > 0 && counted == session.calls.size() && session.elsewhere.empty() && input_of(scanned.comparable) > 0;
    scanned.reports_cache = scanned.comparable.cache_read > 0 || scanned.comparable.cache_write > 0;
}

/// Compactions that no copied call had seen yet.
std::int64_t own_compactions(const SessionBill& bill, const logs::Session& session) {
    return std::ranges::count_if(session.compactions, [&](const logs::Compaction& compaction) {
        const auto behind = std::ranges::lower_bound(session.calls, compaction.before, {}, &logs::Call::reply);
        const auto at = static_cast<std::size_t>(behind - session.calls.begin());
        return behind == session.calls.end() || at >= bill.calls.size() || bill.calls[at].is_counted();
    });
}

/// Of the calls of the figures those that do not count, ascending. `places`: of each message among those of the
/// figures. A log that has grown since its bill was read has calls that it lacks: they count.
std::vector<std::size_t> uncounted_calls(const SessionBill& bill, const logs::Session& session,
                                         const std::vector<std::size_t>& places, const evaluation::Session& figures) {
    std::vector<std::size_t> uncounted;
    for (std::size_t i = 0; i < std::min(session.calls.size(), bill.calls.size()); ++i) {
        if (bill.calls[i].is_counted() || !bill.calls[i].has_reply) continue;
        const auto replies = figures.calls();
        const auto call = std::ranges::lower_bound(replies, places[session.calls[i].reply]);
        if (call != replies.end() && *call < places[session.calls[i].reply + 1])
            uncounted.push_back(static_cast<std::size_t>(call - replies.begin()));
    }
    return uncounted;
}

/// A session, run through everything that it is compared with.
template <JsonMessage M>
class SessionScan {
public:
    SessionScan(const Trajectory<M>& trajectory, const logs::Session& log, const SessionBill& bill,
                const ScanSettings& settings, ScannedSession& scanned)
        : trajectory_(trajectory),
          log_(log),
          bill_(bill),
          settings_(settings),
          scanned_(scanned),
          requests_(static_cast<double>(scanned_presets.size()) * static_cast<double>(calls_in(trajectory))),
          places_(places_of(trajectory.messages)),
          cuts_(cuts_of<M>(places_, log.compactions)) {}

    void run() {
        const evaluation::Session session(take_basis());
        uncounted_ = uncounted_calls(bill_, log_, places_, session);
        scanned_.recorded = figures(
            session, [&](evaluation::TakeRequest take) { evaluation::requests_as_recorded(session, cuts_, take); });
        std::vector<std::function<void()>> parts;
        scanned_.strategies.resize(1 + scanned_presets.size());
        const bool wants_report = settings_.wants_report && settings_.wants_report(scanned_);
        for (std::size_t i = 0; i < scanned_presets.size(); ++i) {
            const bool tells = wants_report && i == 0;
            parts.emplace_back([&, i, tells] {
                scanned_.strategies[1 + i] =
                    figures_of(scanned_presets[i], session, tells ? &scanned_.session_report : nullptr);
            });
        }
        parts.emplace_back([&] { scanned_.strategies.front() = figures_of_everything(session); });
        parts.emplace_back([&] { scanned_.spending = evaluation::spending_of(session, cuts_, uncounted_); });
        run_in_parallel(parts);
    }

private:
    [[nodiscard]] ConfigChoice choice_of(const char* preset) const {
        return {.preset = preset, .window = settings_.window, .cache = scanned_.basis.profile.cache.name};
    }

    [[nodiscard]] evaluation::RunOptions options() const {
        evaluation::RunOptions options{
            .profiles = {scanned_.basis.profile}, .storage = {}, .window = settings_.window, .uncounted = uncounted_};
        if (bill_.prices && bill_.prices->input > 0)
            options.profiles.push_back(with_prices(scanned_.basis.profile, *bill_.prices));
        options.lists_calls = settings_.wants_report != nullptr;
        return options;
    }

    /// `session_report`: is set to the report of the session; null: none is made.
    evaluation::Figures figures_of(const char* preset, const evaluation::Session& session,
                                   std::optional<SessionReport>* session_report) const {
        ComparedChain chain(choice_of(preset), false, session_report != nullptr);
        const auto on_call = [this] { report_progress(); };
        if (session_report == nullptr) {
            chain.take(trajectory_, scanned_.basis, on_call);
        } else {
            *session_report = chain.take_and_report(
                trajectory_, scanned_.basis, {.text_bytes = settings_.report_bytes, .is_masked = settings_.is_masked},
                on_call);
        }
        evaluation::Figures figures = chain.evaluate_last(session, options());
        if (session_report != nullptr) add_costs(**session_report, figures);
        return figures;
    }

    /// In dollars where the bill is: what was billed for calls that no message shows is on both sides then.
    void add_costs(SessionReport& session_report, const evaluation::Figures& figures) const {
        const double own = scanned_.recorded.money.back().sent;
        const bool has_dollars = scanned_.bill.is_priced() && scanned_.compared_dollars > 0 && own > 0;
        if (has_dollars) {
            session_report.price = scanned_.compared_dollars / own;
            session_report.billed_elsewhere = scanned_.bill.dollars - scanned_.compared_dollars;
        }
        add_call_costs(session_report, scanned_.recorded, figures, has_dollars ? figures.money.size() - 1 : 0);
    }

    /// What the presets do takes most of the time.
    void report_progress() const {
        if (!settings_.on_progress) return;
        const std::lock_guard lock(mutex_);
        settings_.on_progress(++made_ / requests_);
    }

    [[nodiscard]] evaluation::Figures figures_of_everything(const evaluation::Session& session) const {
        return figures(
            session, [&](evaluation::TakeRequest take) { evaluation::find_control("noop")->requests(session, take); });
    }

    template <typename Requests>
    evaluation::Figures figures(const evaluation::Session& session, const Requests& requests) const {
        evaluation::Run run(session, options());
        requests([&](std::size_t call, const evaluation::Request& request) {
            throw_if_interrupted();
            run.send(call, request);
        });
        return run.finish();
    }

    /// What is sent and not in the log, such as system text and tools, stands in front of each request.
    evaluation::SessionInput take_basis() {
        evaluation::SessionInput input = evaluation::to_session(trajectory_, scanned_.file);
        scanned_.basis = cost_basis_of(trajectory_, input);
        add_front(input, scanned_.basis.front.value_or(0));
        return input;
    }

    const Trajectory<M>& trajectory_;
    const logs::Session& log_;
    const SessionBill& bill_;
    const ScanSettings& settings_;
    ScannedSession& scanned_;
    double requests_;  // of all presets
    mutable std::mutex mutex_{};
    mutable double made_ = 0.0;  // of these
    std::vector<std::size_t> places_;
    std::vector<evaluation::RecordedCut> cuts_;
    std::vector<std::size_t> uncounted_{};
};

}  // namespace

std::vector<std::string> scanned_strategies() {
    std::vector<std::string> names{"everything sent"};
    names.insert(names.end(), scanned_presets.begin(), scanned_presets.end());
    return names;
}

std::optional<double> hit_rate_of(const Usage& usage) noexcept {
    const std::int64_t input = input_of(usage);
    if (input == 0) return std::nullopt;
    return static_cast<double>(usage.cache_read) / static_cast<double>(input);
}

logs::Session as_logged(Trajectory<>&& trajectory) {
    logs::Session session;
    for (std::size_t i = 0; i < trajectory.messages.size(); ++i) {
        if (message_traits<openai::Message>::role(trajectory.messages[i]) != Role::assistant) continue;
        const auto usage = std::ranges::find(trajectory.usage_by_call, i, &RecordedUsage::message);
        logs::Call& call = session.calls.emplace_back();
        call.reply = i;
        if (usage == trajectory.usage_by_call.end() || usage->usage == Usage{}) continue;
        call.usage = usage->usage;
        call.model = usage->model;
    }
    session.recording = std::move(trajectory);
    return session;
}

double ranking_cost_of(const ScannedSession& session) noexcept {
    return session.bill.billed_calls > 0 ? session.bill.rank() : session.recorded.money.front().sent;
}

ScannedSession scan_session(logs::Session&& session, const SessionBill& bill, bool is_anthropic,
                            const ScanSettings& settings) {
    ScannedSession scanned{.agent = bill.agent,
                           .id = session.recording.id,
                           .parent = session.parent,
                           .file = bill.file,
                           .bill = sum_of(bill),
                           .calls_in_log = static_cast<std::int64_t>(session.calls.size()),
                           .compactions = own_compactions(bill, session)};
    compare_bill(bill, session, scanned);
    if (is_anthropic) {
        const auto trajectory = to_anthropic_shape(std::move(session.recording), bill.file);
        SessionScan<anthropic::Message>(trajectory, session, bill, settings, scanned).run();
    } else {
        const Trajectory<> trajectory = std::move(session.recording);
        SessionScan<openai::Message>(trajectory, session, bill, settings, scanned).run();
    }
    return scanned;
}

}  // namespace whittle::cli
