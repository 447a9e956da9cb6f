#include "masked.hpp"

#include "whittle/redaction/redaction.hpp"

namespace whittle::cli {
namespace {

const Redactor& redactor() {
    static const Redactor shared(RedactionRules{.shown_bytes = 4});
    return shared;
}

}  // namespace

std::string masked(std::string_view text) { return redactor().text(text).text; }

std::string masked_json(std::string_view json) { return redactor().json(json).text; }

std::string masked_unless(bool no_mask, std::string text, bool is_json) {
    if (no_mask) return text;
    return is_json ? masked_json(text) : masked(text);
}

}  // namespace whittle::cli
