#include "whittle/redaction/redaction.hpp"

#include "json_masker.hpp"
#include "redacting_stream.hpp"

#include <string>
#include <utility>
#include <vector>

namespace whittle::inline v0 {
namespace {

Redacted by_lines(const redaction::CompiledRedactionRules& rules, std::string_view text, bool lines_may_be_json,
                  std::vector<std::string>* secrets = nullptr) {
    Redacted redacted;
    redacted.text.reserve(text.size());
    redaction::RedactingStream stream(rules, lines_may_be_json, secrets);
    constexpr std::size_t step = std::size_t{1} << 20;  // what is held is copied
    for (std::size_t at = 0; at < text.size(); at += step) stream.write(text.substr(at, step), redacted.text);
    stream.finish(redacted.text);
    redacted.places = stream.places();
    return redacted;
}

}  // namespace

Redactor::Redactor(RedactionRules rules)
    : rules_(std::make_shared<const redaction::CompiledRedactionRules>(std::move(rules))) {}

Redacted Redactor::text(std::string_view text) const { return by_lines(*rules_, text, false); }

Redacted Redactor::json(std::string_view json) const {
    Redacted redacted;
    redacted.text.reserve(json.size());
    redaction::Found found;
    redaction::mask_json(*rules_, json, redacted.text, found);
    redacted.places = std::move(found.places);
    return redacted;
}

Redacted Redactor::text_or_json(std::string_view content) const {
    if (content.size() <= redaction::largest_whole && redaction::is_json(content)) return json(content);
    return by_lines(*rules_, content, true);
}

std::vector<std::string> Redactor::secrets(std::string_view content) const {
    redaction::Found found;
    std::vector<std::string> secrets;
    found.secrets = &secrets;
    if (content.size() <= redaction::largest_whole && redaction::is_json(content)) {
        std::string masked;
        redaction::mask_json(*rules_, content, masked, found);
    } else {
        (void)by_lines(*rules_, content, true, &secrets);
    }
    return secrets;
}

}  // namespace whittle::inline v0
