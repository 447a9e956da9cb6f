#include "whittle/conversation/draft.hpp"

#include "draft_state.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

Draft::Draft(detail::SideTable& side, std::size_t column, std::string by, EditEnvironment&& environment,
             std::unique_ptr<detail::MessagePort> port)
    : state_(std::make_unique<detail::DraftState>(
          detail::DraftContext{side, std::move(by), std::move(environment), column}, std::move(port))) {}

Draft::Draft(Draft&&) noexcept = default;
Draft::~Draft() = default;

Outline Draft::outline() const noexcept { return state_->overlay.outline(); }
detail::MessagePort& Draft::port() const noexcept { return *state_->port; }
bool Draft::is_open() const noexcept { return state_->overlay.is_open(); }
std::span<const void* const> Draft::addresses() const noexcept { return state_->overlay.messages(); }
void Draft::update_fingerprints() { state_->overlay.update_fingerprints(); }

void Draft::visit_part(std::size_t message, std::size_t part, FunctionRef<void(const PartView&)> visit) const {
    state_->overlay.visit_part(message, part, state_->context.is_current(), visit);
}

void Draft::visit_parts(std::size_t message, FunctionRef<void(const PartView&)> visit) const {
    state_->port->visit_parts(state_->overlay.message(message), visit);
}

std::string Draft::text_of_part(std::size_t message, std::size_t part) const {
    std::string text;
    visit_part(message, part, [&](const PartView& view) { text = view.text; });
    return text;
}

bool Draft::is_protected(std::size_t message) const { return state_->is_pinned(message); }

bool Draft::may_edit(std::size_t message) const {
    if (message >= outline().size() || !state_->rule_on(message).empty()) return false;
    for (std::size_t p = 0; p < outline()[message].parts.size(); ++p) {
        if (!state_->rule_on(message, p).empty()) return false;
    }
    return true;
}

bool Draft::may_edit(std::size_t message, std::size_t part) const {
    return message < outline().size() && part < outline()[message].parts.size() && state_->rule_on(message).empty() &&
           state_->rule_on(message, part).empty();
}

void Draft::allow_editing_pinned(bool allow) noexcept { state_->allow_pinned = allow; }
void Draft::allow_editing_foreign_placeholders() noexcept { state_->allow_editing_foreign_placeholders = true; }
void Draft::allow_editing_open_results() noexcept {
    state_->allow_editing_open_results = true;
    state_->pinned.reset();
}

const TokenCounter& Draft::counter() const noexcept { return *state_->context.env.counter; }
std::int64_t Draft::tokens_before() const noexcept { return state_->context.tokens_before; }
std::int64_t Draft::tokens_after() const noexcept { return state_->overlay.tokens(); }
std::int64_t Draft::tokens_of(std::size_t message) const noexcept {
    return outline()[message].tokens_by_counter[state_->context.column];
}
std::optional<std::size_t> Draft::first_changed() const noexcept { return state_->overlay.first_changed(); }

EditGroup Draft::begin_edit_group() noexcept { return state_->plan.begin_edit_group(); }

void Draft::set_text(std::size_t message, std::size_t part, std::string_view text, Provenance provenance) {
    state_->begin("set_text");
    state_->require_message("set_text", message);
    state_->require_part("set_text", message, part);
    if (outline()[message].parts[part].kind == PartKind::thinking)
        state_->require_no("thinking is never edited; erase all thinking of the message", "set_text", message);
    state_->plan.set_text(message, part, text, std::move(provenance));
}

std::vector<std::size_t> Draft::erase_parts(std::size_t message, std::vector<std::size_t> parts,
                                            Provenance provenance) {
    state_->begin("erase_part");
    state_->require_message("erase_part", message);
    for (const std::size_t part : parts) state_->require_part("erase_part", message, part);
    if (parts.empty()) return {};
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return state_->plan.erase(message, std::move(parts), std::move(provenance));
}

void Draft::replace(std::size_t first, std::size_t last, std::vector<const void*> messages, Provenance provenance) {
    state_->begin("replace");
    if (first > last || last > outline().size()) {
        throw Error(Errc::invalid_argument, fmt::format("{}: replace messages {} to {}: there are {}",
                                                        state_->context.by, first, last, outline().size()));
    }
    for (std::size_t i = first; i < last; ++i) state_->require_message("replace", i);
    state_->require_own_thinking(first, last, messages);
    state_->plan.replace(first, last, std::move(messages), std::move(provenance));
}

void Draft::replace_with_text(std::size_t first, std::size_t last, Role role, std::string_view text,
                              Provenance provenance) {
    replace(first, last, {state_->port->make(role, text)}, std::move(provenance));
}

void Draft::mark(std::size_t message, Provenance provenance) {
    state_->begin("mark");
    state_->require_message("mark", message);
    state_->plan.mark(message, std::move(provenance));
}

void Draft::drop_removable_thinking() { state_->pipeline.drop_thinking_from(0); }

void Draft::store_on_commit(std::string key, std::string content, std::optional<Original> original,
                            std::shared_ptr<Storage> storage) {
    state_->plan.offload(
        {.key = std::move(key), .content = std::move(content), .original = original, .storage = std::move(storage)});
}

void Draft::store_text_on_commit(std::string key, std::size_t message, std::size_t part,
                                 std::shared_ptr<Storage> storage) {
    state_->context.require_current("store_text_on_commit");
    if (message >= outline().size() || part >= outline()[message].parts.size()) {
        throw Error(Errc::invalid_argument,
                    fmt::format("{}: store part {} of message {}: there is none", state_->context.by, part, message));
    }
    detail::Offload offload{.key = std::move(key), .storage = std::move(storage)};
    const auto base = state_->overlay.base_of(message);
    bool is_original = !state_->overlay.is_edited(message);
    if (!is_original) offload.content = text_of_part(message, part);
    if (!is_original && base)
        state_->overlay.visit_original(*base, part,
                                       [&](const PartView& view) { is_original = view.text == offload.content; });
    if (is_original) {
        offload.content.clear();
        offload.original = Original{outline()[message].serial, part};
        offload.source = base;
    }
    state_->plan.offload(std::move(offload));
}

int Draft::store_and_drop_refused() { return state_->pipeline.store(); }

void Draft::drop_edit_groups(std::vector<EditGroup> edit_groups) {
    state_->plan.drop_edit_groups(std::move(edit_groups));
}

std::vector<EditGroup> Draft::drop_invalid_edit_groups(std::vector<EditGroup> edit_groups) {
    return state_->plan.drop_invalid_edit_groups(std::move(edit_groups));
}

std::vector<Violation> Draft::introduced_violations() const { return state_->pipeline.introduced_violations(); }

bool Draft::host_would_veto(bool needs_model) const { return state_->pipeline.host_would_veto(needs_model); }

CommitResult Draft::commit(const CommitOptions& options) {
    CommitResult result = state_->pipeline.commit(options);
    state_->pinned.reset();
    return result;
}

}  // namespace whittle::inline v0
