#include "on_arrival.hpp"

#include "planning.hpp"
#include "whittle/base/event.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/token_saving/detail/compress.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace whittle::inline v0::detail {

namespace {

/// Whether an argument of the call names an object of this conversation.
bool reads_back(const ToolContext& context) {
    if (!context.objects || context.objects->size() == 0) return false;
    const nlohmann::json json = nlohmann::json::parse(context.arguments, nullptr, false);
    std::vector<const nlohmann::json*> open{&json};
    while (!open.empty()) {
        const nlohmann::json& value = *open.back();
        open.pop_back();
        if (value.is_string() && context.objects->find(value.get_ref<const std::string&>(), context.storage))
            return true;
        if (!value.is_structured()) continue;
        for (const nlohmann::json& element : value) open.push_back(&element);
    }
    return false;
}

/// What a tool gave, on its way to the sink.
class Arrival {
public:
    Arrival(const TokenSavingConfig& config, std::string_view by, const ToolContext& context)
        : config_(config), by_(by), context_(context), storage_(config.storage ? config.storage : context.storage) {}

    void take(CollectingSink& sink) {
        parts_ = sink.take();
        stored_ = sink.take_stored();
    }

    /// All or nothing: what throws here leaves the parts as they came.
    void shorten(ToolOutcome& outcome) {
        if (!outcome.read_back.empty() || reads_back(context_)) return;
        std::vector<Part> parts = parts_;
        std::vector<StoredPart> stored = stored_;
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
        if (!storage_ && !outcome.original) outcome.original = OriginalParts{parts_, std::string(by_)};
        parts_ = std::move(parts);
        stored_ = std::move(stored);
        saved_ = saved;
    }

    void pass_on(PartSink& out) {
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            out.push(std::move(parts_[i]));
            for (StoredPart& object : stored_) {
                if (object.part == i) out.stored(object);
            }
        }
    }

    [[nodiscard]] const TokenSavingStats& saved() const noexcept { return saved_; }

private:
    /// Texts that stand for something else are somebody's notices.
    [[nodiscard]] bool may_cut(std::size_t i) const {
        return parts_[i].kind != PartKind::media && std::ranges::find(stored_, i, &StoredPart::part) == stored_.end();
    }

    [[nodiscard]] std::int64_t tokens(std::string_view text) const {
        return context_.counter ? context_.counter->count(text) : static_cast<std::int64_t>(text.size());
    }

    std::optional<std::string> cut(std::size_t i, std::vector<StoredPart>& stored) const {
        const std::string& whole = parts_[i].text;
        if (count_code_points(whole) <= config_.compress_threshold_chars) return std::nullopt;
        PlannedKeys planned;  // each part's key is its own
        const std::string key = storage_ ? free_key(*storage_, key_for(i), whole, planned) : std::string();
        const std::string_view reader = storage_ ? reader_among(context_.tools) : std::string_view();
        const std::string location = storage_ ? reference_to(*storage_, key, reader) : std::string();
        auto now = cut_to_head_and_tail(whole, config_.compress_threshold_chars, config_.head_keep_chars,
                                        config_.tail_keep_chars, {location, reader, context_.language});
        if (!now || tokens(*now) >= tokens(whole)) return std::nullopt;
        if (storage_) {
            put(key, whole);
            stored.push_back({.part = i, .key = key, .by = std::string(by_), .storage = storage_});
        }
        return now;
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

    [[nodiscard]] std::string key_for(std::size_t i) const {
        std::string key = context_.conversation + "/token_saving/" + context_.object_name;
        return i == 0 ? key : key + "-part" + std::to_string(i + 1);
    }

    const TokenSavingConfig& config_;
    std::string_view by_;
    const ToolContext& context_;
    std::shared_ptr<Storage> storage_;
    std::vector<Part> parts_{};
    std::vector<StoredPart> stored_{};
    TokenSavingStats saved_{};
};

}  // namespace

ToolOutcome run_shortened(const TokenSavingConfig& config, std::string_view by, StatsBoard& stats,
                          const ToolContext& context, PartSink& out, const ToolNext& next) {
    CollectingSink held;
    Arrival arrival(config, by, context);
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
        arrival.shorten(outcome);
    } catch (...) {
        if (context.events != nullptr) tell_failure(*context.events, by, context.conversation, current_error_text());
    }
    arrival.pass_on(out);
    if (arrival.saved().compressions > 0) stats.add(context.conversation, arrival.saved(), false);
    return outcome;
}

}  // namespace whittle::inline v0::detail
