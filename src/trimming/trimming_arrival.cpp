#include "trimming_arrival.hpp"

#include "trimming_run.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/conversation/detail/held_result.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

namespace {

/// Of the first code points of a text.
std::size_t bytes_of_chars(std::string_view text, std::size_t chars) noexcept {
    std::size_t bytes = 0;
    for (; bytes < text.size(); ++bytes) {
        const bool starts = (static_cast<unsigned char>(text[bytes]) & 0xc0U) != 0x80U;
        if (starts && chars-- == 0) break;
    }
    return bytes;
}

/// A tool's result without what the model has before it already.
class TrimmedArrival {
public:
    TrimmedArrival(const TrimmingConfig& config, std::string_view by, const ToolContext& context)
        : config_(config), context_(context), held_(context, by, config.storage) {}

    [[nodiscard]] HeldResult& held() noexcept { return held_; }

    /// All or nothing: what throws here leaves the parts as they came.
    void trim(TrimmingState& state, ToolOutcome& outcome) {
        if (outcome.is_error || !outcome.read_back.empty() || shows_stored_text(context_)) return;
        std::vector<Part>& parts = held_.parts;
        if (parts.size() != 1 || !held_.stored.empty() || parts[0].kind == PartKind::media) return;
        const std::string& text = parts[0].text;
        if (text.size() < static_cast<std::size_t>(config_.arrival_min_bytes) || is_failed_output(text)) return;
        const auto& storage = held_.storage();
        PlannedKeys planned;
        const std::string key = storage ? free_key(*storage, own_key(), text, planned) : std::string();
        ArrivedResult arrived{.original_bytes = text.size()};
        auto shown = form(state, text, trim_reference(key), arrived);
        if (!shown || held_.tokens(*shown) >= held_.tokens(text)) return;
        if (storage) held_.put(key, text);
        held_.keep_original(outcome, parts);
        arrived.shown = hash128(*shown);
        if (storage) held_.stored.push_back(held_.stored_as(0, key));
        parts[0].text = *std::move(shown);
        state.add_arrived(context_.object_name, std::move(arrived));
    }

private:
    [[nodiscard]] std::string own_key() const {
        return trim_key(context_.conversation, context_.round, context_.call, "");
    }

    std::optional<std::string> form(TrimmingState& state, const std::string& text, const std::string& reference,
                                    ArrivedResult& arrived) const {
        arrived.form = form_of_result(class_of_call(context_.tool, context_.arguments), text, split_lines(text));
        const std::size_t head = bytes_of_chars(text, static_cast<std::size_t>(config_.arrival_head_chars));
        if (arrived.form.kind == ResultClass::edit) return std::nullopt;
        arrived.lines = state.lines_of_text(text, arrived.form.marks);
        if (arrived.form.kind == ResultClass::read) return form_read(state, text, reference, head, arrived);
        if (!config_.trim_outputs) return std::nullopt;
        auto shown = folded_output(text, reference, head);
        if (shown) arrived.original = text;
        return shown;
    }

    std::optional<std::string> form_read(TrimmingState& state, const std::string& text, const std::string& reference,
                                         std::size_t head, ArrivedResult& arrived) const {
        constexpr std::size_t least_gain = 80;
        if (!config_.trim_reads) return std::nullopt;
        const ReadRules rules = read_rules_of(config_);
        auto read = std::make_unique<ReadForm>(text, arrived.form, rules, state.index());
        const std::size_t whole = read->lines_with(head);
        if (rules.drop_shown) read->drop_shown(whole, state.now(), state.index(), rules);
        std::string shown = read->text(reference, whole);
        const bool keeps_head = shown.compare(0, head, text, 0, head) == 0;
        if (shown.size() + least_gain >= text.size() || !keeps_head) return std::nullopt;
        arrived.read = std::move(read);
        return shown;
    }

    const TrimmingConfig& config_;
    const ToolContext& context_;
    HeldResult held_;
};

}  // namespace

ToolOutcome run_trimmed(const TrimmingConfig& config, std::string_view by, TrimmingState* state,
                        const ToolContext& context, PartSink& out, const ToolNext& next) {
    const bool trims = config.unit == TrimUnit::lines && config.trim_on_arrival;
    if (state == nullptr || !trims || matches_tool(config.exclude_tools, context.tool)) return next(context, out);
    TrimmedArrival arrival(config, by, context);
    return run_held(arrival.held(), context, out, next, [&](ToolOutcome& outcome) {
        try {
            const std::lock_guard lock(state->mutex);
            if (state->request_tokens >= config.arrival_start_tokens) arrival.trim(*state, outcome);
        } catch (...) {
            if (context.on_error == OnError::propagate) throw;
            arrival.held().tell_failed();
        }
    });
}

}  // namespace whittle::inline v0::detail
