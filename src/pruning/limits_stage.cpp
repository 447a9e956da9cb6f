#include "whittle/pruning/detail/limits_stage.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"
#include "whittle/base/text.hpp"
#include "whittle/pruning/detail/media_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

bool exceeds_alone(const PartInfo& part, const RequestLimits& limits, int max_side) noexcept {
    return part.is_image && (is_over_limit(part.media_base64_bytes, limits.max_image_base64_bytes) ||
                             is_over_limit(part.longer_side_pixels, max_side));
}

/// How much of `have` goes so that `fraction` of `limit` is left; 0 where it is within the limit.
template <typename Number>
Number excess(Number have, Number limit) {
    constexpr double fraction_left = 0.75;  // few edits, far apart
    if (!is_over_limit(have, limit)) return 0;
    const auto left = static_cast<Number>(to_int64(static_cast<double>(limit) * fraction_left));
    return have - std::min(have, left);
}

/// Takes media out, message by message, while something is over.
class LimitsStage {
public:
    LimitsStage(HookTurn& turn, Draft& edit, const PruningConfig& config)
        : turn_(turn), edit_(edit), config_(config), limits_(turn.config.profile.validity.limits) {
        const RequestSize have = size_of_request(edit_.outline());
        images_ = excess(have.images, limits_.max_images);
        bytes_ = excess(have.bytes, limits_.max_request_bytes);
        max_side_ = longest_side(limits_, have.images - std::min(images_, images_that_can_go()));
    }

    void take(std::size_t message) {
        const std::vector<std::size_t> media = media_to_go(message);
        std::vector<MediaEdit> edits = plan_media(turn_, edit_, message, media, storage() != nullptr);
        if (edits.empty()) return;
        const std::int64_t before = edit_.tokens_after();
        const std::size_t first = edits.front().part;
        for (const MediaEdit& one : edits) count(edit_.outline()[message].parts[one.part]);
        gain_.count += static_cast<int>(edits.size());
        edit_.begin_edit_group();
        replace_all_media(edit_, message, std::move(edits), storage());
        const std::int64_t freed = sub_saturating(before, edit_.tokens_after());
        gain_.tokens = add_saturating(gain_.tokens, freed);
        turn_.report.ensure_details().candidates.push_back(
            {edit_.outline()[message].serial, first, true, "over_limits", freed});
    }
    [[nodiscard]] bool needs_bytes() const noexcept { return bytes_ > 0; }
    [[nodiscard]] StageGain gain() const noexcept { return gain_; }

private:
    [[nodiscard]] bool may_go(std::size_t message, std::size_t part) const {
        return may_take_media(edit_.outline()[message], part) && !keeps_media(turn_, edit_, config_, message, part);
    }
    /// No request that has it is ever answered, so it goes from the newest messages too, whatever tool it came from;
    /// only what a user has pinned stays.
    [[nodiscard]] bool must_go(std::size_t message, std::size_t part) const {
        const MessageInfo& info = edit_.outline()[message];
        const auto& pins = turn_.config.pins;
        return may_take_media(info, part) && !info.pinned && !(pins && pins(info));
    }
    /// Only asked where that decides how large the others may be.
    [[nodiscard]] std::size_t images_that_can_go() const {
        if (images_ == 0 || limits_.max_side_with_many_images <= 0) return images_;
        std::size_t count = 0;
        const Outline outline = edit_.outline();
        for (std::size_t m = 0; m < outline.size(); ++m) {
            if (!outline[m].has(PartKind::media) || edit_.is_protected(m)) continue;
            for (std::size_t p = 0; p < outline[m].parts.size(); ++p)
                count += outline[m].parts[p].is_image && may_go(m, p) ? 1 : 0;
        }
        return count;
    }
    [[nodiscard]] std::shared_ptr<Storage> storage() const {
        return config_.storage ? config_.storage : turn_.config.storage;
    }
    [[nodiscard]] std::vector<std::size_t> media_to_go(std::size_t message) const {
        std::vector<std::size_t> media;
        const Outline outline = edit_.outline();
        if (!outline[message].has(PartKind::media)) return media;
        const bool is_pinned = edit_.is_protected(message);
        std::size_t images = images_;
        std::int64_t bytes = bytes_;
        for (std::size_t p = 0; p < outline[message].parts.size(); ++p) {
            const PartInfo& part = outline[message].parts[p];
            const bool is_alone = exceeds_alone(part, limits_, max_side_) && must_go(message, p);
            const bool is_over = bytes > 0 || (images > 0 && part.is_image) || exceeds_alone(part, limits_, max_side_);
            if (!is_alone && (!is_over || is_pinned || !may_go(message, p))) continue;
            media.push_back(p);
            images -= std::min<std::size_t>(images, part.is_image ? 1 : 0);
            bytes = sub_saturating(bytes, part.media_base64_bytes);
        }
        return media;
    }
    void count(const PartInfo& gone) {
        images_ -= std::min<std::size_t>(images_, gone.is_image ? 1 : 0);
        bytes_ = std::max<std::int64_t>(0, bytes_ - gone.media_base64_bytes);
    }

    HookTurn& turn_;
    Draft& edit_;
    const PruningConfig& config_;
    const RequestLimits& limits_;
    std::size_t images_ = 0;  // that have to go
    std::int64_t bytes_ = 0;  // that have to go
    int max_side_ = 0;
    StageGain gain_{};
};

}  // namespace

bool is_over_limits(const Outline& outline, const RequestLimits& limits) noexcept {
    if (limits == RequestLimits{}) return false;
    const RequestSize size = size_of_request(outline);
    if (is_over_limit(size.images, limits.max_images) || is_over_limit(size.bytes, limits.max_request_bytes))
        return true;
    const int max_side = longest_side(limits, size.images);
    for (std::size_t i = 0; i < outline.size() && size.images > 0; ++i) {
        for (const PartInfo& part : outline[i].parts) {
            if (exceeds_alone(part, limits, max_side)) return true;
        }
    }
    return false;
}

StageGain stage_limits(HookTurn& turn, Draft& edit, const PruningConfig& config) {
    LimitsStage stage(turn, edit, config);
    for (std::size_t m = 0; m < edit.outline().size(); ++m) stage.take(m);
    StageGain gain = stage.gain();
    if (!stage.needs_bytes() ||
        !is_over_limit(size_of_request(edit.outline()).bytes, turn.config.profile.validity.limits.max_request_bytes))
        return gain;
    PruningConfig all = config;
    all.skip_boundary_turns = 0;
    all.protect_newest_tokens = all.minimum_gain_tokens = 0;
    const StageGain pruned = stage_pruning(turn, edit, all, edit.outline().size());
    gain.count += pruned.count;
    gain.tokens = add_saturating(gain.tokens, pruned.tokens);
    return gain;
}

namespace {

/// Each limit that is broken, with what there is.
std::vector<std::string> broken_limits(const Outline& outline, const RequestLimits& limits) {
    std::vector<std::string> broken;
    const RequestSize size = size_of_request(outline);
    if (is_over_limit(size.images, limits.max_images))
        broken.push_back(fmt::format("{} images (limit {})", size.images, limits.max_images));
    if (is_over_limit(size.bytes, limits.max_request_bytes))
        broken.push_back(fmt::format("{} bytes in the request (limit {})", size.bytes, limits.max_request_bytes));
    const int max_side = longest_side(limits, size.images);
    const std::string when = max_side == limits.max_image_side
                                 ? std::string()
                                 : fmt::format(" with more than {} images", limits.many_images_threshold);
    for (std::size_t i = 0; i < outline.size(); ++i) {
        for (const PartInfo& part : outline[i].parts) {
            if (!part.is_image) continue;
            if (is_over_limit(part.media_base64_bytes, limits.max_image_base64_bytes))
                broken.push_back(fmt::format("an image of {} bytes in message {} (limit {} for one)",
                                             part.media_base64_bytes, outline[i].serial,
                                             limits.max_image_base64_bytes));
            if (is_over_limit(part.longer_side_pixels, max_side))
                broken.push_back(fmt::format("an image of {} pixels a side in message {} (limit {}{})",
                                             part.longer_side_pixels, outline[i].serial, max_side, when));
        }
    }
    constexpr std::size_t most = 5;
    if (broken.size() > most) broken.resize(most);
    return broken;
}

}  // namespace

void report_limits(HookTurn& turn, const RequestLimits& limits) {
    Notes notes = turn.notes();
    if (!is_over_limits(turn.outline(), limits)) return notes.erase("limits_reported");
    if (notes.integer("limits_reported")) return;
    notes.set("limits_reported", std::int64_t{1});
    const std::string text = fmt::format("what has to stay is over the provider's limits: {}",
                                         fmt::join(broken_limits(turn.outline(), limits), ", "));
    turn.report.ensure_details().error = text;
    emit(turn.on_event, {Event::Level::warning, turn.report.middleware, "over_limits", text, turn.conversation_id()});
}

namespace {

template <typename T>
void append(std::vector<T>& all, std::vector<T>& more) {
    all.insert(all.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

bool has_changed(const StageReport& report) noexcept {
    return report.outcome == Outcome::committed || report.outcome == Outcome::planned;
}

/// Adds what a second commit of the same hook came to.
void add_report(StageReport& report, StageReport second) {
    StageDetails& sum = report.ensure_details();
    StageDetails& more = second.ensure_details();
    const bool is_first = !has_changed(report);
    if (has_changed(second)) {
        if (is_first) sum.tokens_before = more.tokens_before;
        sum.tokens_after = more.tokens_after;
        sum.first_changed =
            is_first || !sum.first_changed ? more.first_changed : std::min(*sum.first_changed, *more.first_changed);
        sum.cached_tokens_invalidated =
            std::max(is_first ? 0 : sum.cached_tokens_invalidated, more.cached_tokens_invalidated);
    }
    if (has_changed(second) || report.outcome == Outcome::not_due || report.outcome == Outcome::not_applicable)
        report.outcome = second.outcome;
    append(sum.candidates, more.candidates);
    append(sum.stored_keys, more.stored_keys);
    append(sum.store_failures, more.store_failures);
    sum.bytes_stored += more.bytes_stored;
    sum.thinking_prefix_edited = sum.thinking_prefix_edited || more.thinking_prefix_edited;
    sum.thinking_parts_dropped += more.thinking_parts_dropped;
    if (sum.error.empty()) sum.error = std::move(more.error);
}

}  // namespace

void commit_limits(HookTurn& turn, Draft& edit, const PruningConfig& config) {
    StageReport first = turn.report;
    turn.report.details = nullptr;
    std::string failure;
    try {
        if (stage_limits(turn, edit, config).count > 0) report_refused(turn, edit.commit());
        if (!turn.config.dry_run) report_limits(turn, turn.config.profile.validity.limits);
    } catch (...) {
        failure = current_error_text();
        if (turn.config.on_error == OnError::propagate || turn.stop.stop_requested()) {
            turn.report = std::move(first);
            throw;
        }
    }
    std::swap(first, turn.report);
    if (first.details) add_report(turn.report, std::move(first));
    if (failure.empty()) return;
    const std::string text = "fit the limits of the provider: " + failure;
    turn.report.ensure_details().error = text;
    emit_failure(turn.on_event, turn.report.middleware, turn.conversation_id(), text);
}

}  // namespace whittle::inline v0::detail
