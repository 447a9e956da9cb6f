#include "cline_bill.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace whittle::inline v0::logs {
namespace {

using detail::find_member;

/// Of Cline's providers those whose `tokensIn` is all of the prompt. The other ones take out what the cache did.
constexpr std::array<std::string_view, 11> whole_prompt_providers{
    "openai", "openai-codex", "litellm", "oca", "requesty", "xai", "zai", "fireworks", "doubao", "qwen", "hicap"};

/// Of these and DeepSeek: what they call written to the cache is what the cache did not have.
constexpr std::array<std::string_view, 7> misses_as_writes{"openai", "xai",   "fireworks", "doubao",
                                                           "qwen",   "hicap", "deepseek"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& list, std::string_view text) {
    return std::ranges::find(list, text) != list.end();
}

/// Records that come between a request and what is known of its answer.
constexpr std::array<std::string_view, 8> cline_waiting{"error_retry",    "api_req_retried",    "api_req_retry_delayed",
                                                        "api_req_failed", "checkpoint_created", "checkpoint_saved",
                                                        "hook_status",    "hook_output_stream"};

std::string_view kind_of_ui_record(const ordered_json& record) {
    const std::string_view type = text_at(record, "type");
    return type == "say" ? text_at(record, "say") : type == "ask" ? text_at(record, "ask") : std::string_view();
}

std::optional<ClineRange> range_in(const ordered_json& record) {
    const ordered_json* range = tree_at(record, "conversationHistoryDeletedRange");
    if (range == nullptr || !range->is_array() || range->size() != 2) return std::nullopt;
    return ClineRange{static_cast<std::size_t>(count_in((*range)[0])), static_cast<std::size_t>(count_in((*range)[1]))};
}

/// The reply comes behind the messages that were there and the one that was sent. -1: there were none.
std::optional<std::size_t> place_of_reply(const ordered_json& record) {
    const ordered_json* index = find_member(record, "conversationHistoryIndex");
    if (index == nullptr || !index->is_number_integer()) return std::nullopt;
    if (!index->is_number_unsigned() && index->get<std::int64_t>() < 0) return 1;
    return static_cast<std::size_t>(count_in(*index)) + 2;
}

/// By time: the last request in front of each reply, once.
class ReplyMatch {
public:
    ReplyMatch(const std::vector<ClineMessage>& messages, const std::vector<ClineRequest>& requests)
        : messages_(messages),
          requests_(requests),
          of_(messages.size(), no_cline_request),
          is_taken_(requests.size(), false) {}

    std::vector<std::size_t> run() {
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            if (messages_[i].is_reply && messages_[i].ms > 0) take_by_time(i);
        }
        for (std::size_t k = requests_.size(); k-- > 0;) take_by_place(k);
        if (!has_reported()) take_in_order();
        return std::move(of_);
    }

private:
    void take(std::size_t reply, std::size_t request) {
        of_[reply] = request;
        is_taken_[request] = true;
    }

    void take_by_time(std::size_t reply) {
        const auto behind = std::ranges::upper_bound(requests_, messages_[reply].ms, {}, &ClineRequest::ms);
        if (behind == requests_.begin()) return;
        const auto request = static_cast<std::size_t>(behind - requests_.begin()) - 1;
        if (!is_taken_[request]) take(reply, request);
    }

    /// Of several at one place the last one: those in front were broken off.
    void take_by_place(std::size_t request) {
        const auto reply = requests_[request].reply;
        if (!reply || is_taken_[request] || *reply >= messages_.size()) return;
        const ClineMessage& message = messages_[*reply];
        if (message.is_reply && message.ms == 0 && of_[*reply] == no_cline_request) take(*reply, request);
    }

    [[nodiscard]] bool has_reported() const {
        return std::ranges::any_of(messages_, [](const ClineMessage& one) { return one.is_reply && one.ms > 0; }) ||
               std::ranges::any_of(requests_, [](const ClineRequest& one) { return one.reply.has_value(); });
    }

    void take_in_order() {
        std::vector<std::size_t> replies;
        std::vector<std::size_t> reported;
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            if (messages_[i].is_reply) replies.push_back(i);
        }
        for (std::size_t k = 0; k < requests_.size(); ++k) {
            if (requests_[k].has_counts()) reported.push_back(k);
        }
        if (replies.size() != reported.size()) return;
        for (std::size_t i = 0; i < replies.size(); ++i) take(replies[i], reported[i]);
    }

    const std::vector<ClineMessage>& messages_;
    const std::vector<ClineRequest>& requests_;
    std::vector<std::size_t> of_;
    std::vector<bool> is_taken_;
};

/// Sums are counted as the last request in front of them of which it is known.
class CountingOfSums {
public:
    /// By ascending times.
    explicit CountingOfSums(const std::vector<ClineRequest>& requests) {
        for (const ClineRequest& one : requests) {
            if (!one.protocol.empty() || !one.provider.empty()) known_.push_back(&one);
        }
    }

    void set_in(ClineRequest& sum) const {
        const auto behind = std::ranges::upper_bound(known_, sum.ms, {}, [](const auto* one) { return one->ms; });
        if (behind == known_.begin()) return;
        sum.protocol = (*std::prev(behind))->protocol;
        sum.provider = (*std::prev(behind))->provider;
    }

private:
    std::vector<const ClineRequest*> known_{};
};

void set_counts(ClineRequest& request, const ordered_json& reported) {
    request.input = count_at(reported, "tokensIn");
    request.output = count_at(reported, "tokensOut");
    request.cache_write = count_at(reported, "cacheWrites");
    request.cache_read = count_at(reported, "cacheReads");
}

}  // namespace

Usage usage_of_request(const ClineRequest& request) {
    const bool are_misses = request.protocol.empty() && is_among(misses_as_writes, request.provider);
    const bool is_whole = !request.protocol.empty() || is_among(whole_prompt_providers, request.provider);
    const std::int64_t written = are_misses ? 0 : request.cache_write;
    if (is_whole) return usage_of_sums(request.input, request.cache_read, written, request.output);
    return {.uncached_input = are_misses ? add_saturating(request.input, request.cache_write) : request.input,
            .cache_read = request.cache_read,
            .cache_write = written,
            .output = request.output};
}

std::string ClineBill::next_bill_id(std::int64_t ms, std::string_view kind) {
    if (ms == 0) return {};
    std::string id = fmt::format("cline/{}/{}{}{}", first_ms_, ms, kind.empty() ? "" : "/", kind);
    const std::size_t number = ++bill_ids_[id];
    return number == 1 ? id : fmt::format("{}/{}", id, number);
}

void ClineBill::add(const ordered_json& record, std::size_t line, const LogOptions& options, LogNotes& notes) {
    const std::string_view kind = kind_of_ui_record(record);
    if (kind.empty()) return note_damage(notes, line, "a record that neither says nor asks");
    is_empty_ = false;
    if (first_ms_ == 0) first_ms_ = count_at(record, "ts");
    const bool is_bill = kind == "api_req_started" || kind == "api_req_finished" || kind == "deleted_api_reqs" ||
                         kind == "subagent_usage";
    if (!is_bill) {
        if (kind == "condense_context" || kind == "sliding_window_truncation") note_compaction(record);
        note_answer(record, kind);
        ++notes.left_out[std::string(text_at(record, "type")) + "/" + std::string(kind.substr(0, 64))];
        return;
    }
    std::optional<ordered_json> reported;
    if (const ordered_json* text = find_member(record, "text"))
        reported = json_in(*text, line, options, notes, values_);
    if (reported && !reported->is_object()) reported.reset();
    if (!reported) note_damage(notes, line, "a bill that is no JSON object");
    if (kind == "api_req_started") return begin_request(record, reported ? &*reported : nullptr);
    if (kind != "api_req_finished") return bill_side_request(record, kind, reported ? &*reported : nullptr);
    if (reported) end_request(*reported);
}

void ClineBill::begin_request(const ordered_json& record, const ordered_json* reported) {
    ClineRequest& request = requests_.emplace_back();
    request.ms = count_at(record, "ts");
    request.bill_id = next_bill_id(request.ms, "");
    request.reply = place_of_reply(record);
    request.range = range_in(record);
    if (const ordered_json* info = tree_at(record, "modelInfo")) {
        request.model = text_at(*info, "modelId");
        request.provider = text_at(*info, "providerId");
    }
    if (reported == nullptr) return;
    request.protocol = text_at(*reported, "apiProtocol");
    set_counts(request, *reported);
}

/// Versions of 2024 told what was billed in a record of its own.
void ClineBill::end_request(const ordered_json& reported) {
    if (!requests_.empty() && !requests_.back().has_counts()) set_counts(requests_.back(), reported);
}

void ClineBill::note_answer(const ordered_json& record, std::string_view kind) {
    if (requests_.empty() || requests_.back().answered != 0 || is_among(cline_waiting, kind)) return;
    requests_.back().answered = count_at(record, "ts");
    requests_.back().range = range_in(record);
}

void ClineBill::bill_side_request(const ordered_json& record, std::string_view kind, const ordered_json* reported) {
    if (reported == nullptr) return;
    ClineRequest sum;
    set_counts(sum, *reported);
    if (!sum.has_counts()) return;
    sum.ms = count_at(record, "ts");
    sum.bill_id = next_bill_id(sum.ms, kind);
    sums_.push_back(std::move(sum));
}

/// The call that made a summary is known by its price alone.
void ClineBill::note_compaction(const ordered_json& record) {
    const std::int64_t ms = count_at(record, "ts");
    if (const ordered_json* cut = tree_at(record, "contextTruncation"))
        compactions_.emplace(text_at(*cut, "truncationId"), RooCompaction{ms, count_at(*cut, "prevContextTokens")});
    const ordered_json* condensed = tree_at(record, "contextCondense");
    if (condensed == nullptr) return;
    compactions_.emplace(text_at(*condensed, "condenseId"),
                         RooCompaction{ms, count_at(*condensed, "prevContextTokens")});
    ClineRequest& made_it = sums_.emplace_back();
    made_it.ms = ms;
    made_it.bill_id = next_bill_id(ms, "condense_context");
}

void ClineBill::add_models(const ordered_json& metadata) {
    const ordered_json* used = tree_at(metadata, "model_usage");
    if (used == nullptr) return;
    for (const ordered_json& one : *used)
        models_.insert_or_assign(count_at(one, "ts"), UsedModel{std::string(text_at(one, "model_id")),
                                                                std::string(text_at(one, "model_provider_id"))});
}

void ClineBill::finish() {
    std::ranges::stable_sort(requests_, {}, &ClineRequest::ms);
    for (ClineRequest& request : requests_) know_model(request);
    for (ClineRequest& sum : sums_) know_model(sum);
}

void ClineBill::know_model(ClineRequest& request) const {
    const auto behind = models_.upper_bound(request.ms);
    if (behind == models_.begin() || !request.model.empty()) return;
    request.model = std::prev(behind)->second.model;
    request.provider = std::prev(behind)->second.provider;
}

std::vector<Call> ClineBill::side_calls() const {
    const CountingOfSums counting(requests_);
    std::vector<Call> calls;
    for (ClineRequest sum : sums_) {
        counting.set_in(sum);
        Call call{.bill_id = sum.bill_id, .time = static_cast<double>(sum.ms) / 1'000};
        if (sum.has_counts()) call.usage = usage_of_request(sum);
        calls.push_back(std::move(call));
    }
    return calls;
}

RooCompaction ClineBill::compaction_of(const std::string& id) const {
    const auto known = compactions_.find(id);
    return id.empty() || known == compactions_.end() ? RooCompaction{} : known->second;
}

std::vector<std::size_t> match_requests(const std::vector<ClineMessage>& messages,
                                        const std::vector<ClineRequest>& requests) {
    return ReplyMatch(messages, requests).run();
}

}  // namespace whittle::inline v0::logs
