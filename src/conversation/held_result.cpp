#include "whittle/conversation/detail/held_result.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/event.hpp"
#include "whittle/conversation/detail/edit_environment.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

namespace whittle::inline v0::detail {

HeldResult::HeldResult(const ToolContext& context, std::string_view by, const std::shared_ptr<Storage>& own)
    : context_(context), by_(by), storage_(own ? own : context.storage) {}

std::int64_t HeldResult::tokens(std::string_view text) const {
    return context_.counter ? context_.counter->count(text) : static_cast<std::int64_t>(text.size());
}

void HeldResult::put(const std::string& key, const std::string& whole) const {
    try {
        storage_->put_if_absent(key, whole);
    } catch (const std::exception& error) {
        emit_store_failures(context_.events, by_, context_.conversation_id,
                            std::array{StoreFailure{key, error.what()}});
        throw;
    }
}

StoredPart HeldResult::stored_as(std::size_t part, std::string key) const {
    return {.part = part, .key = std::move(key), .by = std::string(by_), .storage = storage_};
}

void HeldResult::keep_original(ToolOutcome& outcome, const std::vector<Part>& given) const {
    if (!storage_ && !outcome.original) outcome.original = OriginalParts{given, std::string(by_)};
}

void HeldResult::emit_failed() const noexcept {
    if (context_.events != nullptr) emit_failure(*context_.events, by_, context_.conversation_id, current_error_text());
}

bool shows_stored_text(const ToolContext& context) {
    if (!context.objects || context.objects->size() == 0) return false;
    return std::ranges::any_of(strings_in_json(context.arguments), [&](const std::string& text) {
        return context.objects->find(text, context.storage).has_value();
    });
}

namespace {

void pass_on(HeldResult& held, PartSink& out) {
    for (std::size_t i = 0; i < held.parts.size(); ++i) {
        out.push(std::move(held.parts[i]));
        for (StoredPart& object : held.stored) {
            if (object.part == i) out.mark_stored(object);
        }
    }
}

}  // namespace

ToolOutcome run_held(HeldResult& held, const ToolContext& context, PartSink& out, const ToolNext& next,
                     FunctionRef<void(ToolOutcome&)> change) {
    CollectingSink sink;
    const auto take = [&] {
        held.parts = sink.take();
        held.stored = sink.take_stored();
    };
    ToolOutcome outcome;
    try {
        outcome = next(context, sink);
    } catch (...) {
        take();
        pass_on(held, out);
        throw;
    }
    take();
    try {
        change(outcome);
    } catch (...) {
        pass_on(held, out);
        throw;
    }
    pass_on(held, out);
    return outcome;
}

}  // namespace whittle::inline v0::detail
