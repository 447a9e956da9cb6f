#include "whittle/conversation/detail/notes.hpp"

#include <utility>

namespace whittle::inline v0 {

const NoteBook::Map& NoteBook::all() const noexcept {
    static const Map empty;
    return map_ ? *map_ : empty;
}

const Note* NoteBook::find(std::string_view owner, std::string_view name) const {
    if (!map_) return nullptr;
    const auto found = map_->find(KeyView(owner, name));
    return found == map_->end() ? nullptr : &found->second;
}

void NoteBook::set(std::string_view owner, std::string_view name, Note note) {
    if (const Note* present = find(owner, name); present != nullptr && *present == note) return;
    auto copy = std::make_shared<Map>(all());
    copy->insert_or_assign(Key(owner, name), std::move(note));
    map_ = std::move(copy);
}

void NoteBook::erase(std::string_view owner, std::string_view name) {
    if (find(owner, name) == nullptr) return;
    auto copy = std::make_shared<Map>(all());
    copy->erase(Key(owner, name));
    map_ = std::move(copy);
}

void NoteBook::end_run() {
    Map kept;
    for (const auto& [key, note] : all()) {
        if (note.scope != NoteScope::run) kept.emplace(key, note);
    }
    if (kept.size() != all().size()) map_ = std::make_shared<const Map>(std::move(kept));
}

namespace {

template <typename T>
const T* value_as(const Note* note) {
    return note == nullptr ? nullptr : std::get_if<T>(&note->value);
}

}  // namespace

std::optional<std::int64_t> Notes::integer(std::string_view name) const {
    const auto* value = value_as<std::int64_t>(book_.find(owner_, name));
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> Notes::real(std::string_view name) const {
    const auto* value = value_as<double>(book_.find(owner_, name));
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::string_view> Notes::text(std::string_view name) const {
    const auto* value = value_as<std::string>(book_.find(owner_, name));
    return value == nullptr ? std::nullopt : std::optional<std::string_view>(*value);
}

void Notes::set(std::string_view name, NoteValue value, NoteScope scope) {
    book_.set(owner_, name, {std::move(value), scope});
}

void Notes::erase(std::string_view name) { book_.erase(owner_, name); }

}  // namespace whittle::inline v0
