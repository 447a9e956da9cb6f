#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0 {
namespace {

struct ErrcText {
    Errc code;
    std::string_view name;
    const char* meaning;
};

constexpr std::array<ErrcText, 16> errc_texts{{
    {Errc::invalid_argument, "invalid_argument", "the call breaks a precondition"},
    {Errc::invalid_config, "invalid_config", "the configuration has bad fields"},
    {Errc::invalid_key, "invalid_key", "the storage key is outside the allowed alphabet or shape"},
    {Errc::invalid_history, "invalid_history", "the commit would break a rule of the validity profile"},
    {Errc::already_exists, "already_exists", "a write-once object exists with other content"},
    {Errc::storage_failed, "storage_failed", "the store did not accept or return an object"},
    {Errc::damaged, "damaged", "a stored object differs from what was written"},
    {Errc::not_found, "not_found", "the named thing does not exist"},
    {Errc::not_offered, "not_offered", "the implementation does not offer the operation"},
    {Errc::conflict, "conflict", "the conversation changed between planning and commit"},
    {Errc::pinned, "pinned", "the edit concerns something that must stay as it is"},
    {Errc::limit_exceeded, "limit_exceeded", "a limit or a quota is reached"},
    {Errc::parse_failed, "parse_failed", "the input is not what its format says"},
    {Errc::model_failed, "model_failed", "a model backend failed"},
    {Errc::cancelled, "cancelled", "stopped by the caller's stop token"},
    {Errc::callback_failed, "callback_failed", "a user's callback gave what cannot be used"},
}};

const ErrcText* find(Errc code) noexcept {
    const auto* const found = std::ranges::find(errc_texts, code, &ErrcText::code);
    return found == errc_texts.end() ? nullptr : found;
}

class Category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "whittle"; }
    [[nodiscard]] std::string message(int value) const override {
        const ErrcText* text = find(static_cast<Errc>(value));
        return text ? text->meaning : "unknown error";
    }
};

std::string on_one_line(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    return text;
}

}  // namespace

std::string_view to_string(Errc code) noexcept {
    const ErrcText* text = find(code);
    return text ? text->name : "unknown";
}

const std::error_category& error_category() noexcept {
    static const Category category;
    return category;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }

Error::Error(Errc code, std::string message)
    : std::system_error(make_error_code(code)), errc_(code), message_(std::move(message)) {}

void Problems::error(std::string field, std::string value, std::string allowed) {
    problems_.push_back({Problem::Severity::error, std::move(field), std::move(value), std::move(allowed)});
}

void Problems::warning(std::string field, std::string value, std::string allowed) {
    problems_.push_back({Problem::Severity::warning, std::move(field), std::move(value), std::move(allowed)});
}

void Problems::append(const Problems& other) {
    const std::vector<Problem> added = other.problems_;  // a copy: `other` may be this object
    problems_.insert(problems_.end(), added.begin(), added.end());
}

bool Problems::has_errors() const noexcept {
    return std::ranges::any_of(problems_, [](const Problem& p) { return p.severity == Problem::Severity::error; });
}

void Problems::throw_if_errors(std::string_view operation) const {
    std::string reasons;
    for (const Problem& problem : problems_) {
        if (problem.severity != Problem::Severity::error) continue;
        if (!reasons.empty()) reasons += "; ";
        reasons += to_string(problem);
    }
    if (!reasons.empty()) throw Error(Errc::invalid_config, fmt::format("{}: {}", operation, reasons));
}

std::string to_string(const Problem& problem) {
    if (problem.value.empty()) return on_one_line(fmt::format("{}: {}", problem.field, problem.allowed));
    return on_one_line(fmt::format("{} = {}: {}", problem.field, problem.value, problem.allowed));
}

}  // namespace whittle::inline v0
