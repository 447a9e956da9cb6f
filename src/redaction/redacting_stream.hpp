#pragma once

#include "redaction_rules.hpp"

#include <string>
#include <string_view>

namespace whittle::inline v0::redaction {

/// Masks a text line by line, whatever pieces it comes in: the same bytes as for the whole. Holds one line, at most 64
/// KiB of it. The rules have to outlive it.
class RedactingStream {
public:
    RedactingStream(const MaskRules& rules, bool lines_may_be_json)
        : rules_(&rules), lines_may_be_json_(lines_may_be_json) {}

    /// Appends what is done to `out`.
    void write(std::string_view chunk, std::string& out);
    void finish(std::string& out);

    [[nodiscard]] const Places& places() const noexcept { return places_; }

private:
    void take_line(std::string_view line, bool is_whole, std::string& out);
    void mask_line(std::string_view line, bool is_whole, std::string& out);
    [[nodiscard]] bool is_hidden(std::string_view line);

    const MaskRules* rules_;
    bool lines_may_be_json_;
    std::string held_{};
    Places places_{};
    bool is_rest_ = false;    // of a line that was cut
    bool is_in_key_ = false;  // the line stands in a private key
    bool is_key_counted_ = false;
};

}  // namespace whittle::inline v0::redaction
