#include "bills.hpp"

#include "cost_basis.hpp"
#include "system.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

struct KeyHasher {
    std::size_t operator()(const Hash128& key) const noexcept { return static_cast<std::size_t>(key.low ^ key.high); }
};

bool is_known(const Hash128& key) noexcept { return key != Hash128{}; }

/// Bytes of the numbers, one after another.
template <typename... Numbers>
Hash128 with_numbers(Hash128 seed, Numbers... numbers) {
    std::string bytes;
    const auto add = [&](auto number) {
        char of_number[sizeof number];
        std::memcpy(of_number, &number, sizeof number);
        bytes.append(of_number, sizeof number);
    };
    (add(numbers), ...);
    return hash128(bytes, seed);
}

Hash128 with_usage(Hash128 seed, const Usage& usage) {
    return with_numbers(seed, usage.uncached_input, usage.cache_read, usage.cache_write, usage.output);
}

Hash128 with_call(Hash128 seed, const logs::Call& call) {
    const Hash128 placed = with_numbers(seed, call.reply, call.time.value_or(-1.0));
    return with_usage(hash128(call.model, placed), call.usage.value_or(Usage{}));
}

/// Of all that a session says. `has_own_id`: it is no name of a file, which a copy may have otherwise.
Hash128 fingerprint_of(const logs::Session& session, bool has_own_id) {
    const Trajectory<>& recording = session.recording;
    Hash128 print = hash128(recording.system, hash128(has_own_id ? recording.id : ""));
    for (const ToolSpec& tool : recording.tools) print = hash128(tool.description, hash128(tool.name, print));
    for (const openai::Message& message : recording.messages)
        print = hash128(message.json().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), print);
    for (const std::optional<double>& second : recording.seconds_since_first)
        print = with_numbers(print, second.value_or(-1.0));
    for (const logs::Call& call : session.calls) print = with_call(print, call);
    for (const logs::Call& call : session.elsewhere) print = with_call(print, call);
    return with_usage(print, session.billed_in_all.value_or(Usage{}));
}

evaluation::CostProfile profile_of(const logs::Session& session, bool is_anthropic) {
    RecordedBill bill{.calls = session.recording.usage_by_call, .seconds = session.recording.seconds_since_first};
    bill.model = first_model(session.recording.usage_by_call, session.recording.rest);
    bill.is_anthropic = is_anthropic;
    return cost_basis_of(bill).profile;
}

std::string project_of(const logs::Session& session, const std::string& file) {
    if (!session.folder.empty()) return session.folder;
    return file == "-" ? "" : std::filesystem::path(file).parent_path().string();
}

/// The sum stands with the last call, or with one of its own where there is none.
void take_sum(SessionBill& bill, const Usage& sum, std::size_t model) {
    bill.sum = sum;
    if (bill.calls.empty()) bill.calls.push_back({.model = model, .has_reply = false});
    for (BilledCall& call : bill.calls) call.usage = Usage{};
    bill.calls.back().usage = sum;
}

/// What a copy of a call weighs: of a session with only a sum each has all of it, since which has how much is not told.
std::int64_t weight_of(const SessionBill& session, const BilledCall& call) noexcept {
    if (session.sum) return session.sum->total();
    return call.usage ? call.usage->total() : -1;
}

bool is_better_copy(const SessionBill& session, const BilledCall& call, const SessionBill& other_session,
                    const BilledCall& other) noexcept {
    const std::int64_t weight = weight_of(session, call);
    const std::int64_t other_weight = weight_of(other_session, other);
    if (weight != other_weight) return weight > other_weight;
    if (call.has_reply != other.has_reply) return call.has_reply;
    if (call.unrecorded_output != other.unrecorded_output) return call.unrecorded_output < other.unrecorded_output;
    if (call.time && other.time && *call.time != *other.time) return *call.time < *other.time;
    return session.calls.size() > other_session.calls.size();
}

std::optional<std::tm> calendar_of(double time, bool (*convert)(std::time_t, std::tm&)) {
    constexpr double latest = 253'402'300'799;  // the end of the year 9999
    if (!(time >= 0 && time <= latest)) return std::nullopt;
    const auto seconds = static_cast<std::time_t>(std::floor(time));
    std::tm calendar{};
    return convert(seconds, calendar) ? std::optional(calendar) : std::nullopt;
}

std::string day_text(const std::tm& calendar) {
    return fmt::format("{:04}-{:02}-{:02}", calendar.tm_year + 1900, calendar.tm_mon + 1, calendar.tm_mday);
}

}  // namespace

Usage SessionBill::billed() const noexcept {
    Usage billed;
    for (const BilledCall& call : calls) {
        if (call.is_counted()) billed += call.usage.value_or(Usage{});
    }
    return billed;
}

std::size_t Bills::index_of_model(const std::string& name) {
    const auto [at, is_new] = model_at_.try_emplace(name, models_.size());
    if (is_new) models_.push_back(name);
    return at->second;
}

BilledCall Bills::billed_call(const logs::Call& call, bool has_reply, std::string_view model) {
    const std::string& id = call.id.empty() ? call.bill_id : call.id;
    return {.key = id.empty() ? Hash128{} : hash128(id),
            .model = index_of_model(call.model.empty() ? std::string(model) : call.model),
            .time = call.time,
            .usage = call.usage,
            .requests = call.requests,
            .unrecorded_output = call.unrecorded_output,
            .has_reply = has_reply};
}

void Bills::add(const logs::Session& session, const std::string& agent, const std::string& file, bool is_anthropic) {
    SessionBill bill{.agent = agent,
                     .id = session.recording.id,
                     .parent = session.parent,
                     .file = file,
                     .project = project_of(session, file),
                     .version = session.version,
                     .profile = profile_of(session, is_anthropic)};
    bill.model = first_model(session.recording.usage_by_call, session.recording.rest);
    const auto is_named = [](const logs::Call& call) { return !call.model.empty(); };
    const bool are_named =
        std::ranges::any_of(session.calls, is_named) || std::ranges::any_of(session.elsewhere, is_named);
    const std::string_view model = are_named ? std::string_view() : std::string_view(bill.model);
    for (const logs::Call& call : session.calls) bill.calls.push_back(billed_call(call, true, model));
    for (const logs::Call& call : session.elsewhere) bill.calls.push_back(billed_call(call, false, model));
    if (session.billed_in_all) take_sum(bill, *session.billed_in_all, index_of_model(bill.model));
    const bool has_keys = std::ranges::all_of(bill.calls, [](const BilledCall& call) { return is_known(call.key); });
    // Sessions that never got to a call are alike too easily to be told by what they say alone.
    const bool needs_id = bill.calls.empty() || agent == "recorded";
    if (!has_keys || bill.calls.empty()) bill.fingerprint = fingerprint_of(session, needs_id);
    sessions_.push_back(std::move(bill));
}

void Bills::find_copied_sessions() {
    std::unordered_map<Hash128, const SessionBill*, KeyHasher> first;
    for (SessionBill& session : sessions_) {
        if (!is_known(session.fingerprint)) continue;
        const auto [at, is_new] = first.try_emplace(session.fingerprint, &session);
        if (is_new || at->second->file == session.file) continue;
        session.is_copy = true;
        for (BilledCall& call : session.calls) call.is_copy = true;
    }
}

void Bills::find_copied_calls() {
    struct Place {
        SessionBill* session = nullptr;
        BilledCall* call = nullptr;
    };
    std::unordered_map<Hash128, Place, KeyHasher> best;
    for (SessionBill& session : sessions_) {
        for (BilledCall& call : session.calls) {
            if (call.is_copy || !is_known(call.key)) continue;
            const auto [at, is_new] = best.try_emplace(call.key, Place{&session, &call});
            if (is_new) continue;
            Place& known = at->second;
            const bool is_better = is_better_copy(session, call, *known.session, *known.call);
            (is_better ? known.call : &call)->is_copy = true;
            if (is_better) known = {&session, &call};
        }
    }
}

void Bills::price(SessionBill& session, const PriceList& list) const {
    const bool writes_live_an_hour = session.profile.cache.name == "anthropic_1h";
    for (BilledCall& call : session.calls) {
        const std::string& model = models_[call.model].empty() ? session.model : models_[call.model];
        const ModelPrices* const prices = call.usage ? list.find(model) : nullptr;
        if (prices == nullptr) continue;
        call.dollars =
            dollars_of(*call.usage, *prices,
                       {.is_one_call = call.requests == 1 && !session.sum, .writes_live_an_hour = writes_live_an_hour});
        if (!session.prices) session.prices = *prices;
    }
}

void Bills::settle(const std::string& since, const PriceList& prices) {
    find_copied_sessions();
    find_copied_calls();
    for (SessionBill& session : sessions_) {
        price(session, prices);
        for (BilledCall& call : session.calls)
            call.is_asked_for = since.empty() || (call.time && local_day_of(*call.time) >= since);
        const bool has_calls = !session.calls.empty();
        session.is_copy = session.is_copy || (has_calls && std::ranges::all_of(session.calls, &BilledCall::is_copy));
        session.is_counted =
            has_calls ? std::ranges::any_of(session.calls, &BilledCall::is_counted) : since.empty() && !session.is_copy;
    }
}

std::string local_day_of(double time) {
    const auto calendar = calendar_of(time, system::to_local_time);
    return calendar ? day_text(*calendar) : "";
}

std::string utc_text_of(double time) {
    const auto calendar = calendar_of(time, system::to_utc);
    if (!calendar) return "";
    return fmt::format("{}T{:02}:{:02}:{:02}Z", day_text(*calendar), calendar->tm_hour, calendar->tm_min,
                       calendar->tm_sec);
}

}  // namespace whittle::cli
