#include "whittle/reduction/detail/clearing_run.hpp"

#include "whittle/base/detail/names.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// How the newest results are shortened.
class NewestShortening {
public:
    explicit NewestShortening(ClearingScope& scope) noexcept : scope_(scope) {}

    /// Plans what frees so many tokens of the request.
    void stage(std::int64_t tokens);

private:
    [[nodiscard]] ClearingPlan plan() const;
    [[nodiscard]] std::int64_t limit_that_frees(std::int64_t tokens,
                                                const std::vector<ClearingCandidate>& candidates) const;
    std::int64_t shorten(const ClearingCandidate& candidate, std::int64_t max_bytes);
    void shorten_text(const ClearingCandidate& candidate, std::size_t i, const std::string& whole,
                      std::int64_t max_bytes, const std::shared_ptr<Storage>& storage);

    ClearingScope& scope_;
};

/// What may be shortened: results of retained rounds that nobody else has made or wants as they are.
ClearingPlan NewestShortening::plan() const {
    ClearingPlan planned = scope_.plan();
    std::erase_if(planned.candidates, [&](const ClearingCandidate& candidate) {
        if (!candidate.is_retained || scope_.edit.is_protected(candidate.message)) return true;
        if (matches_tool(scope_.turn.config.protected_tools, scope_.tool_of(candidate))) return true;
        if (skips_truncation(scope_.config, scope_.tool_of(candidate))) return true;
        return std::ranges::any_of(candidate.parts, [&](std::size_t part) {
            const Mark& mark = mark_of(scope_.edit.outline()[candidate.message], part);
            return origin_of(mark) != Origin::original && (mark->by != scope_.name() || mark->reason == "clear");
        });
    });
    return planned;
}

namespace {

struct TextSize {
    std::int64_t bytes = 0;
    std::int64_t tokens = 0;
};

/// Tokens that go where each text is cut to `limit` bytes and gets a notice.
double tokens_freed(const std::vector<TextSize>& texts, std::int64_t limit) {
    constexpr std::int64_t notice = 250;  // bytes
    double sum = 0.0;
    for (const auto& [bytes, tokens] : texts) {
        if (bytes > limit + notice)
            sum +=
                static_cast<double>(tokens) * static_cast<double>(bytes - limit - notice) / static_cast<double>(bytes);
    }
    return sum;
}

}  // namespace

/// The largest limit for each of their texts that frees so much of our count, by estimate.
std::int64_t NewestShortening::limit_that_frees(std::int64_t tokens,
                                                const std::vector<ClearingCandidate>& candidates) const {
    constexpr std::int64_t least = 1'000;
    std::vector<TextSize> texts;
    std::int64_t largest = least;
    for (const ClearingCandidate& candidate : candidates) {
        for (const Part& part : scope_.parts_of_result(candidate)) {
            if (part.kind == PartKind::media) continue;
            texts.push_back({static_cast<std::int64_t>(part.text.size()), scope_.turn.counter().count(part.text)});
            largest = std::max(largest, texts.back().bytes);
        }
    }
    std::int64_t limit = least;
    std::int64_t too_high = add_saturating(largest, 1);
    while (limit + 1 < too_high) {
        const std::int64_t middle = limit + (too_high - limit) / 2;
        (tokens_freed(texts, middle) >= static_cast<double>(tokens) ? limit : too_high) = middle;
    }
    return limit;
}

void NewestShortening::stage(std::int64_t tokens) {
    scope_.edit.allow_editing_open_results();
    const ClearingPlan planned = plan();
    const std::int64_t limit = limit_that_frees(scope_.counted_for(tokens), planned.candidates);
    for (const ClearingCandidate& candidate : planned.candidates) {
        const std::int64_t less = shorten(candidate, limit);
        if (less > 0) {
            scope_.turn.report.ensure_details().candidates.push_back({scope_.edit.outline()[candidate.message].serial,
                                                                      candidate.parts.front(), true, "newest_shortened",
                                                                      less});
        }
    }
}

/// Plans one result's shortening as an edit group of its own. Returns the tokens that it frees.
std::int64_t NewestShortening::shorten(const ClearingCandidate& candidate, std::int64_t max_bytes) {
    const auto storage = scope_.storage_for(scope_.tool_of(candidate));
    if (!storage) return 0;
    const std::vector<Part> parts = scope_.parts_of_result(candidate);
    const std::int64_t before = scope_.edit.tokens_after();
    const EditGroup edit_group = scope_.edit.begin_edit_group();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool is_long = static_cast<std::int64_t>(parts[i].text.size()) > max_bytes;
        if (parts[i].kind != PartKind::media && is_long) shorten_text(candidate, i, parts[i].text, max_bytes, storage);
    }
    const std::int64_t freed = before - scope_.edit.tokens_after();
    if (freed > 0) return freed;
    scope_.edit.drop_edit_group(edit_group);
    return 0;
}

/// The notice names the object that has the text, or one that is made. A text that nobody has stays.
void NewestShortening::shorten_text(const ClearingCandidate& candidate, std::size_t i, const std::string& whole,
                                    std::int64_t max_bytes, const std::shared_ptr<Storage>& storage) {
    const std::span<const std::string> stored = candidate.stored_of(i);
    const bool is_new = stored.empty();
    const Mark& mark = mark_of(scope_.edit.outline()[candidate.message], candidate.parts[i]);
    if (is_new && origin_of(mark) != Origin::original) return;
    Provenance provenance{.origin = Origin::placeholder,
                          .reason = std::string(truncate_reason),
                          .stored_keys = {stored.begin(), stored.end()}};
    if (is_new)
        provenance.stored_keys.push_back(
            free_key(*storage,
                     default_object_key(scope_.config, scope_.turn.conversation_id(), "trunc",
                                        scope_.first_part(candidate).key_safe_call_id),
                     whole, scope_.planned));
    const std::string location = reference_to(*storage, provenance.stored_keys.front(), scope_.reader());
    const TruncatedText text{.tool = scope_.tool_of(candidate), .location = location, .reader = scope_.reader()};
    scope_.edit.set_text(candidate.message, candidate.parts[i],
                         cut_to(whole, static_cast<std::size_t>(max_bytes), text, scope_.turn.language), provenance);
    if (is_new)
        scope_.offload(provenance.stored_keys.front(), whole, storage,
                       Draft::Original{scope_.edit.outline()[candidate.message].serial, candidate.parts[i]});
}

}  // namespace

void ClearingRun::shorten_newest(std::int64_t tokens) { NewestShortening(scope_).stage(tokens); }

}  // namespace whittle::inline v0::detail
