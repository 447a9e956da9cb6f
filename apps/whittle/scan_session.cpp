#include "scan_session.hpp"

#include "agent_log.hpp"
#include "beside_each_other.hpp"
#include "call_progress.hpp"
#include "compared_chain.hpp"
#include "cost_basis.hpp"
#include "interrupt.hpp"
#include "shape.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <utility>

namespace whittle::cli {
namespace {

constexpr std::array<const char*, 3> scanned_presets{"recommended", "lossless", "cheap"};

template <JsonMessage M>
std::vector<evaluation::RecordedCut> cuts_of(const std::vector<M>& messages,
                                             const std::vector<logs::Compaction>& compactions) {
    std::vector<std::size_t> places{0};  // of each message among those of the figures
    for (const M& message : messages) places.push_back(places.back() + evaluation::detail::messages_of(message).size());
    std::vector<evaluation::RecordedCut> cuts;
    for (const logs::Compaction& compaction : compactions) {
        evaluation::RecordedCut& cut = cuts.emplace_back();
        cut.before = places[compaction.before];
        for (const auto& message : compaction.kept)
            std::ranges::move(evaluation::detail::messages_of(M(message)), std::back_inserter(cut.kept));
    }
    return cuts;
}

/// Whether a call was met before, in this or another file.
bool is_met_again(const logs::Call& call, SeenCalls& seen) {
    const std::string& id = call.id.empty() ? call.bill_id : call.id;
    return !id.empty() && !seen.insert(id).second;
}

/// The bill, without calls that were counted before.
void take_bill(const logs::Session& session, SeenCalls& seen, ScannedSession& scanned) {
    const auto add = [&](const Usage& usage, std::int64_t calls) {
        scanned.billed_calls += calls;
        scanned.billed += usage;
    };
    const auto take = [&](const logs::Call& call) {
        if (is_met_again(call, seen)) {
            scanned.repeated_calls += call.requests;
        } else if (call.usage) {
            add(*call.usage, call.requests);
            if (call.unrecorded_output > 0) scanned.early += {1, call.unrecorded_output};
        }
    };
    if (session.billed_in_all) {
        const Usage& sum = *session.billed_in_all;
        add(sum, scanned.calls);
        scanned.comparable = sum;
        scanned.is_comparable = !session.calls.empty() && session.elsewhere.empty() && input_of(sum) > 0;
        scanned.tells_cache = sum.cache_read > 0 || sum.cache_write > 0;
        return;
    }
    scanned.is_comparable = !session.calls.empty();
    for (const logs::Call& call : session.calls) {
        scanned.is_comparable = scanned.is_comparable && call.usage && input_of(*call.usage) > 0;
        take(call);
    }
    scanned.comparable = scanned.billed;
    scanned.is_comparable = scanned.is_comparable && scanned.repeated_calls == 0;
    for (const logs::Call& call : session.elsewhere) take(call);
}

/// A session, run through everything that it is compared with.
template <JsonMessage M>
class SessionScan {
public:
    SessionScan(const Trajectory<M>& trajectory, const logs::Session& session, const ScanSettings& settings,
                ScannedSession& scanned)
        : trajectory_(trajectory),
          settings_(settings),
          scanned_(scanned),
          requests_(static_cast<double>(scanned_presets.size()) * static_cast<double>(calls_in(trajectory))),
          cuts_(cuts_of(trajectory.messages, session.compactions)) {}

    void run() {
        const evaluation::Session session(take_basis());
        scanned_.recorded = figures(
            session, [&](evaluation::TakeRequest take) { evaluation::requests_as_recorded(session, cuts_, take); });
        std::vector<std::function<void()>> parts;
        scanned_.strategies.resize(1 + scanned_presets.size());
        const bool wants_story = settings_.wants_story && settings_.wants_story(scanned_);
        for (std::size_t i = 0; i < scanned_presets.size(); ++i) {
            const bool tells = wants_story && i == 0;
            parts.emplace_back([&, i, tells] {
                scanned_.strategies[1 + i] = figures_of(scanned_presets[i], session, tells ? &scanned_.story : nullptr);
            });
        }
        parts.emplace_back([&] { scanned_.strategies.front() = figures_of_everything(session); });
        parts.emplace_back([&] { scanned_.spending = evaluation::spending_of(session, cuts_); });
        run_beside_each_other(parts);
    }

private:
    [[nodiscard]] ConfigChoice choice_of(const char* preset) const {
        return {.preset = preset, .window = settings_.window, .cache = scanned_.basis.profile.cache.name};
    }

    [[nodiscard]] evaluation::RunOptions options() const {
        return {.profiles = {scanned_.basis.profile}, .storage = {}, .window = settings_.window};
    }

    /// `story`: takes what a report shows of it; null: nobody wants that.
    evaluation::Figures figures_of(const char* preset, const evaluation::Session& session,
                                   std::optional<SessionStory>* story) const {
        ComparedChain chain(choice_of(preset), false, story != nullptr);
        const auto on_call = [this] { tell_progress(); };
        if (story == nullptr) {
            chain.take(trajectory_, scanned_.basis, on_call);
        } else {
            *story =
                chain.take_and_tell(trajectory_, scanned_.basis,
                                    {.text_bytes = settings_.story_bytes, .is_masked = settings_.is_masked}, on_call);
        }
        return chain.evaluate_last(session, options());
    }

    /// What the presets do takes most of the time.
    void tell_progress() const {
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
        scanned_.billed_cost = cost_of(scanned_.billed, scanned_.basis.profile);
        add_front(input, scanned_.basis.front.value_or(0));
        return input;
    }

    const Trajectory<M>& trajectory_;
    const ScanSettings& settings_;
    ScannedSession& scanned_;
    double requests_;  // of all presets
    mutable std::mutex mutex_{};
    mutable double made_ = 0.0;  // of these
    std::vector<evaluation::RecordedCut> cuts_;
};

}  // namespace

std::vector<std::string> scanned_strategies() {
    std::vector<std::string> names{"everything sent"};
    names.insert(names.end(), scanned_presets.begin(), scanned_presets.end());
    return names;
}

EarlyOutput& EarlyOutput::operator+=(const EarlyOutput& more) noexcept {
    calls += more.calls;
    estimated_tokens = add_saturating(estimated_tokens, more.estimated_tokens);
    return *this;
}

double cost_of(const Usage& usage, const evaluation::CostProfile& profile) noexcept {
    const double five_minutes = find_cache_profile("anthropic_5m")->write;
    const double hour = find_cache_profile("anthropic_1h")->write;
    const std::int64_t untold = usage.cache_write - usage.cache_write_5m - usage.cache_write_1h;
    return static_cast<double>(usage.input) + static_cast<double>(usage.cache_read) * profile.cache.read +
           static_cast<double>(untold) * profile.cache.write +
           static_cast<double>(usage.cache_write_5m) * five_minutes + static_cast<double>(usage.cache_write_1h) * hour +
           static_cast<double>(usage.output) * profile.output;
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
        const auto usage = std::ranges::find(trajectory.usage, i, &RecordedUsage::message);
        logs::Call& call = session.calls.emplace_back();
        call.reply = i;
        if (usage == trajectory.usage.end() || usage->usage == Usage{}) continue;
        call.usage = usage->usage;
        call.model = usage->model;
    }
    session.recording = std::move(trajectory);
    return session;
}

double dear_cost_of(const ScannedSession& session) noexcept {
    return session.billed_calls > 0 ? session.billed_cost : session.recorded.money.front().sent;
}

ScannedSession scan_session(logs::Session&& session, const ScanSource& source, const ScanSettings& settings,
                            SeenCalls& seen) {
    ScannedSession scanned{.agent = source.agent,
                           .id = session.recording.id,
                           .parent = session.parent,
                           .file = source.file,
                           .calls = static_cast<std::int64_t>(session.calls.size()),
                           .compactions = static_cast<std::int64_t>(session.compactions.size())};
    take_bill(session, seen, scanned);
    note_model(session);
    if (source.is_anthropic) {
        const auto trajectory = to_anthropic_shape(std::move(session.recording), source.file);
        SessionScan<anthropic::Message>(trajectory, session, settings, scanned).run();
    } else {
        const Trajectory<> trajectory = std::move(session.recording);
        SessionScan<openai::Message>(trajectory, session, settings, scanned).run();
    }
    return scanned;
}

}  // namespace whittle::cli
