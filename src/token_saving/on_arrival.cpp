#include "on_arrival.hpp"

#include "planning.hpp"
#include "whittle/conversation/detail/held_result.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/token_saving/detail/compress.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// A tool's result whose long texts are cut.
class Arrival {
public:
    Arrival(const TokenSavingConfig& config, std::string_view by, const ToolContext& context)
        : config_(config), context_(context), held_(context, by, config.storage) {}

    [[nodiscard]] HeldResult& held() noexcept { return held_; }
    [[nodiscard]] const TokenSavingStats& saved() const noexcept { return saved_; }

    /// All or nothing: what fails here leaves the parts as they came.
    void shorten(ToolOutcome& outcome) noexcept {
        try {
            shorten_or_throw(outcome);
        } catch (...) {
            held_.emit_failed();
        }
    }

private:
    void shorten_or_throw(ToolOutcome& outcome) {
        if (!outcome.read_back.empty() || shows_stored_text(context_)) return;
        std::vector<Part> parts = held_.parts;
        std::vector<StoredPart> stored = held_.stored;
        TokenSavingStats saved;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (!may_cut(i)) continue;
            if (auto now = cut(i, stored)) {
                saved.compressions += 1;
                saved.chars_saved += count_code_points(parts[i].text) - count_code_points(*now);
                parts[i].text = *std::move(now);
            }
        }
        if (saved.compressions == 0) return;
        held_.keep_original(outcome, held_.parts);
        held_.parts = std::move(parts);
        held_.stored = std::move(stored);
        saved_ = saved;
    }

    /// Texts that stand for something else are somebody's notices.
    [[nodiscard]] bool may_cut(std::size_t i) const {
        return held_.parts[i].kind != PartKind::media &&
               std::ranges::find(held_.stored, i, &StoredPart::part) == held_.stored.end();
    }

    std::optional<std::string> cut(std::size_t i, std::vector<StoredPart>& stored) const {
        const std::string& whole = held_.parts[i].text;
        if (count_code_points(whole) <= config_.compress_threshold_chars) return std::nullopt;
        const auto& storage = held_.storage();
        PlannedKeys planned;  // each part's key is its own
        const std::string key = storage ? free_key(*storage, key_for(i), whole, planned) : std::string();
        const std::string_view reader = storage ? reader_among(context_.tools) : std::string_view();
        const std::string location = storage ? reference_to(*storage, key, reader) : std::string();
        auto now = cut_to_head_and_tail(whole, config_.compress_threshold_chars, config_.head_keep_chars,
                                        config_.tail_keep_chars, {location, reader, context_.language},
                                        {config_.head_keep_lines, config_.tail_keep_lines});
        if (!now || held_.tokens(*now) >= held_.tokens(whole)) return std::nullopt;
        if (storage) {
            held_.put(key, whole);
            stored.push_back(held_.stored_as(i, key));
        }
        return now;
    }

    [[nodiscard]] std::string key_for(std::size_t i) const {
        std::string key = context_.conversation_id + "/token_saving/" + context_.key_safe_call_id;
        return i == 0 ? key : key + "-part" + std::to_string(i + 1);
    }

    const TokenSavingConfig& config_;
    const ToolContext& context_;
    HeldResult held_;
    TokenSavingStats saved_{};
};

}  // namespace

ToolOutcome run_shortened(const TokenSavingConfig& config, std::string_view by, StatsBoard& stats,
                          const ToolContext& context, PartSink& out, const ToolNext& next) {
    Arrival arrival(config, by, context);
    ToolOutcome outcome =
        run_held(arrival.held(), context, out, next, [&](ToolOutcome& given) { arrival.shorten(given); });
    if (arrival.saved().compressions > 0) stats.add(context.conversation_id, arrival.saved(), false);
    return outcome;
}

}  // namespace whittle::inline v0::detail
