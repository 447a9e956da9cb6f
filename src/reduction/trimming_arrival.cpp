#include "trimming_arrival.hpp"

#include "json_strings.hpp"
#include "trimming_run.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/event.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

/// Whether an argument of the call names an object of this conversation.
bool shows_stored_text(const ToolContext& context) {
    if (!context.objects || context.objects->size() == 0) return false;
    return std::ranges::any_of(json_strings(context.arguments), [&](const JsonString& string) {
        return context.objects->find(string.value, context.storage).has_value();
    });
}

/// Of the first code points of a text.
std::size_t bytes_of_chars(std::string_view text, std::size_t chars) noexcept {
    std::size_t bytes = 0;
    for (; bytes < text.size(); ++bytes) {
        const bool starts = (static_cast<unsigned char>(text[bytes]) & 0xc0U) != 0x80U;
        if (starts && chars-- == 0) break;
    }
    return bytes;
}

/// What a tool gave, on its way to the sink.
class TrimmedArrival {
public:
    TrimmedArrival(const TrimmingConfig& config, std::string_view by, const ToolContext& context)
        : config_(config), by_(by), context_(context), storage_(config.storage ? config.storage : context.storage) {}

    void take(CollectingSink& sink) {
        parts_ = sink.take();
        stored_ = sink.take_stored();
    }

    /// All or nothing: what throws here leaves the parts as they came.
    void trim(TrimmingState& state, ToolOutcome& outcome) {
        if (outcome.is_error || !outcome.read_back.empty() || shows_stored_text(context_)) return;
        if (parts_.size() != 1 || !stored_.empty() || parts_[0].kind == PartKind::media) return;
        const std::string& text = parts_[0].text;
        if (text.size() < static_cast<std::size_t>(config_.arrival_min_bytes) || is_failed_output(text)) return;
        const std::string key = storage_ ? free_key(*storage_, own_key(), text, planned_) : std::string();
        ArrivedResult arrived{.original_bytes = text.size()};
        auto shown = form(state, text, trim_reference(key), arrived);
        if (!shown || tokens(*shown) >= tokens(text)) return;
        if (storage_) put(key, text);
        if (!storage_ && !outcome.original) outcome.original = OriginalParts{parts_, std::string(by_)};
        arrived.shown = hash128(*shown);
        if (storage_) stored_.push_back({.part = 0, .key = key, .by = std::string(by_), .storage = storage_});
        parts_[0].text = *std::move(shown);
        state.add_arrived(context_.object_name, std::move(arrived));
    }

    void pass_on(PartSink& out) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            out.push(std::move(parts_[i]));
            for (StoredPart& object : stored_) {
                if (object.part == i) out.stored(object);
            }
        }
    }

private:
    [[nodiscard]] std::string own_key() const {
        return trim_key(context_.conversation, context_.round, context_.call, "");
    }

    [[nodiscard]] std::int64_t tokens(std::string_view text) const {
        return context_.counter ? context_.counter->count(text) : static_cast<std::int64_t>(text.size());
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

    void put(const std::string& key, const std::string& whole) const {
        try {
            storage_->put_if_absent(key, whole);
        } catch (const std::exception& error) {
            tell_store_failures(context_.events, by_, context_.conversation,
                                std::array{StoreFailure{key, error.what()}});
            throw;
        }
    }

    const TrimmingConfig& config_;
    std::string_view by_;
    const ToolContext& context_;
    std::shared_ptr<Storage> storage_;
    PlannedKeys planned_{};
    std::vector<Part> parts_{};
    std::vector<StoredPart> stored_{};
};

}  // namespace

ToolOutcome run_trimmed(const TrimmingConfig& config, std::string_view by, TrimmingState* state,
                        const ToolContext& context, PartSink& out, const ToolNext& next) {
    const bool is_excluded = matches_tool(config.exclude_tools, context.tool);
    if (state == nullptr || !config.trim_on_arrival || is_excluded) return next(context, out);
    CollectingSink held;
    TrimmedArrival arrival(config, by, context);
    ToolOutcome outcome;
    try {
        outcome = next(context, held);
    } catch (...) {
        arrival.take(held);
        arrival.pass_on(out);
        throw;
    }
    arrival.take(held);
    try {
        const std::lock_guard lock(state->mutex);
        arrival.trim(*state, outcome);
    } catch (...) {
        if (context.on_error == OnError::propagate) {
            arrival.pass_on(out);
            throw;
        }
        if (context.events != nullptr) tell_failure(*context.events, by, context.conversation, current_error_text());
    }
    arrival.pass_on(out);
    return outcome;
}

}  // namespace whittle::inline v0::detail
