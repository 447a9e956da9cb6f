#pragma once

#include "key_lines.hpp"
#include "line_context.hpp"
#include "redaction_rules.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::redaction {

/// Masks a text line by line, whatever pieces it comes in: the same bytes as for the whole. Holds one line, at most 64
/// KiB of it, and up to 32 KiB of lines that may be a private key whose end is still to come. The rules have to outlive
/// it.
class RedactingStream {
public:
    /// `secrets`: takes what was masked; null: nobody wants it.
    RedactingStream(const CompiledRedactionRules& rules, bool lines_may_be_json,
                    std::vector<std::string>* secrets = nullptr)
        : rules_(&rules), lines_may_be_json_(lines_may_be_json), found_{.secrets = secrets} {}

    /// Appends what is done to `out`.
    void write(std::string_view chunk, std::string& out);
    void finish(std::string& out);

    [[nodiscard]] const Places& places() const noexcept { return found_.places; }

private:
    void take_line(std::string_view line, bool is_whole, std::string_view line_end, std::string& out);
    void hold(std::string_view line, std::string_view line_end, std::string& out);
    void settle_held(bool is_key, std::string& out);
    void hide_line(std::string_view line, std::string& out);
    void mask_other_line(std::string_view line, bool is_whole, std::string& out);
    void mask_line(std::string_view line, bool is_whole, std::string& out);

    const CompiledRedactionRules* rules_;
    bool lines_may_be_json_;
    std::string held_{};
    Found found_;
    bool is_rest_ = false;  // of a line that was cut
    KeyLines keys_{};
    bool is_key_counted_ = false;
    std::string lines_{};  // that may be of a private key, with their line feeds
    LineContext context_{};
};

}  // namespace whittle::inline v0::redaction
