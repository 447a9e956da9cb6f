#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_builder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {
namespace {

/// Walks over a text and asks whether it is cancelled every 64 KiB of it.
class CancellableText {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    static constexpr std::size_t bytes_between = 1U << 16U;

    CancellableText(const char* at, const CancelCheck& check_cancelled) : at_(at), check_cancelled_(&check_cancelled) {}

    reference operator*() const { return *at_; }
    CancellableText& operator++() {
        ++at_;
        if (--until_poll_ == 0) poll_now();
        return *this;
    }
    CancellableText operator++(int) {
        CancellableText before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const CancellableText& a, const CancellableText& b) { return a.at_ == b.at_; }

private:
    void poll_now() {
        until_poll_ = bytes_between;
        (*check_cancelled_)();
    }

    const char* at_;
    const CancelCheck* check_cancelled_;
    std::size_t until_poll_ = bytes_between;
};

}  // namespace

ordered_json parse_json(std::string_view operation, std::string_view text, const JsonLimits& limits, ParseNotes* notes,
                        CancelCheck check_cancelled) {
    const auto fail = [&](const std::string& reason) {
        throw Error(Errc::parse_failed, std::string(operation) + ": " + reason);
    };
    if (text.size() > limits.max_bytes) {
        fail(std::to_string(text.size()) + " bytes of JSON are more than the limit of " +
             std::to_string(limits.max_bytes));
    }
    if (const auto nul = text.find('\0'); nul != std::string_view::npos) {  // the parser would take it for the end
        fail("byte " + std::to_string(nul) + ": a NUL, which JSON text cannot hold");
    }
    JsonBuilder builder(limits.max_depth, notes);
    const char* const end = text.data() + text.size();
    const bool is_parsed = text.size() < CancellableText::bytes_between  // which goes faster
                               ? ordered_json::sax_parse(text.data(), end, &builder)
                               : ordered_json::sax_parse(CancellableText(text.data(), check_cancelled),
                                                         CancellableText(end, check_cancelled), &builder);
    if (is_parsed) return builder.take_root();
    if (builder.too_deep()) {
        fail("byte " + std::to_string(offset_of_depth(text, limits.max_depth)) + ": nested deeper than " +
             std::to_string(limits.max_depth) + " levels");
    }
    fail("byte " + std::to_string(builder.error_offset()) + ": " + to_valid_utf8(builder.error_text()));
    return nullptr;
}

ordered_json parse_repaired_json(std::string_view operation, std::string_view text, bool& is_repaired,
                                 const JsonLimits& limits, ParseNotes* notes, CancelCheck check_cancelled) {
    const std::size_t notes_before = notes == nullptr ? 0 : notes->notes.size();
    try {
        return parse_json(operation, text, limits, notes, check_cancelled);
    } catch (const Error& refused) {
        if (refused.errc() != Errc::parse_failed || text.size() > limits.max_bytes) throw;
        const auto repaired = repaired_json(text);
        if (!repaired) throw;
        if (notes != nullptr) notes->notes.resize(std::min(notes_before, notes->notes.size()));
        try {
            ordered_json json = parse_json(operation, *repaired, {.max_bytes = SIZE_MAX, .max_depth = limits.max_depth},
                                           notes, check_cancelled);
            is_repaired = true;
            return json;
        } catch (const Error& again) {
            if (again.errc() != Errc::parse_failed) throw;
        }
        throw;  // of what stands there: offsets in the other text say nothing
    }
}

bool holds_replacement(const ordered_json& value) {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    std::vector<const ordered_json*> open{&value};
    while (!open.empty()) {
        const ordered_json& one = *open.back();
        open.pop_back();
        if (one.is_string() && one.get_ref<const std::string&>().find(replacement) != std::string::npos) return true;
        if (!one.is_structured()) continue;
        for (const ordered_json& child : one) open.push_back(&child);
    }
    return false;
}

}  // namespace whittle::inline v0::detail
