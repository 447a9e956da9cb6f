#include "extract_form.hpp"
#include "trimming_run.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/conversation/detail/held_result.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"

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

/// What is shown of a result that comes; nullopt: all of it.
std::optional<std::string> shorten(const std::string& text, TrimmingState& state, const std::string& reference,
                                   ArrivedResult& arrived) {
    constexpr std::size_t least_gain = 80;
    const TrimmingConfig& config = state.settings->config;
    ResultText& result = arrived.result;
    const std::size_t head = bytes_of_chars(text, state.settings->rules.arrival_head_chars);
    if (result.form.kind == ResultClass::edit) return std::nullopt;
    arrived.lines = state.transcript.lines_of(text, result.form.marks);
    if (result.form.kind != ResultClass::read) {
        auto shown = config.trim_program_output ? folded_output(text, reference, head) : std::nullopt;
        if (shown) result.original = text;
        return shown;
    }
    if (!config.trim_reads) return std::nullopt;
    LineIndex& index = state.transcript.index;
    result.read = std::make_unique<ReadForm>(text, result.form, config.unit, index);
    const std::size_t whole = result.read->lines_with(head);
    result.read->drop_shown(whole, state.now, index);
    std::string shown = result.read->text(reference, whole);
    const bool keeps_head = shown.compare(0, head, text, 0, head) == 0;
    if (shown.size() + least_gain >= text.size() || !keeps_head) return std::nullopt;
    return shown;
}

/// All or nothing: what throws here leaves the parts as they came.
void trim_arrival(const ToolContext& context, TrimmingState& state, HeldResult& held, ToolOutcome& outcome) {
    if (outcome.is_error || !outcome.read_back.empty() || shows_stored_text(context)) return;
    std::vector<Part>& parts = held.parts;
    if (parts.size() != 1 || !held.stored.empty() || parts[0].kind == PartKind::media) return;
    const std::string& text = parts[0].text;
    if (text.size() < state.settings->rules.arrival_min_bytes || is_failed_output(text)) return;
    const auto& storage = held.storage();
    PlannedKeys planned;
    std::string key;
    if (storage)
        key = free_key(*storage, trim_key(context.conversation_id, context.round_serial, context.index_in_round, ""),
                       text, planned);
    ArrivedResult arrived{.result = {.original_bytes = text.size()}};
    arrived.result.form = form_of_result(class_of_call(context.tool, context.arguments), text, split_lines(text));
    auto shown = shorten(text, state, trim_reference(key), arrived);
    if (!shown || held.tokens(*shown) >= held.tokens(text)) return;
    if (storage) held.put(key, text);
    held.keep_original(outcome, parts);
    arrived.shown = hash128(*shown);
    if (storage) held.stored.push_back(held.stored_as(0, key));
    parts[0].text = *std::move(shown);
    state.transcript.add_arrived(context.key_safe_call_id, std::move(arrived));
}

}  // namespace

ToolOutcome run_trimmed(const TrimmingConfig& config, std::string_view by, TrimmingState* state,
                        const ToolContext& context, PartSink& out, const ToolNext& next) {
    const bool trims = config.unit == TrimUnit::lines && config.drop_known_lines_on_arrival;
    if (state == nullptr || !trims || matches_tool(config.exclude_tools, context.tool)) return next(context, out);
    HeldResult held(context, by, config.storage);
    return run_held(held, context, out, next, [&](ToolOutcome& outcome) {
        try {
            const std::lock_guard lock(state->mutex);
            trim_arrival(context, *state, held, outcome);
        } catch (...) {
            if (context.on_middleware_error == OnError::propagate) throw;
            held.emit_failed();
        }
    });
}

}  // namespace whittle::inline v0::detail
