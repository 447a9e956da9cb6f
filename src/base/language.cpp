#include "whittle/base/language.hpp"

#include <atomic>

namespace whittle::inline v0 {
namespace {

std::atomic<Language> chosen_language{Language::english};

}  // namespace

void set_language(Language language) noexcept { chosen_language.store(language); }

Language default_language() noexcept { return chosen_language.load(); }

std::string_view to_string(Language language) noexcept { return language == Language::chinese ? "zh" : "en"; }

}  // namespace whittle::inline v0
