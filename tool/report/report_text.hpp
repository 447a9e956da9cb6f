#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whittle::cli {

/// A text as a report shows it: whole, or its two ends.
struct ReportText {
    std::string head{};
    std::string tail{};
    std::int64_t left_out = 0;  ///< bytes between them

    [[nodiscard]] bool is_whole() const noexcept { return left_out == 0; }
};

/// What is to be seen of `text`, as `shown` has it but for line feeds and tabs, which stay; secrets masked if wanted.
/// A longer one than 64 KiB is shortened to that.
[[nodiscard]] ReportText report_text(std::string_view text, bool is_masked);

/// Bytes that it takes in the report's data, where `<`, `>` and `&` are six each.
[[nodiscard]] std::size_t size_in_report(const ReportText& text) noexcept;

/// To at most `most` bytes of the report's data: two thirds of the beginning, one of the end.
void shorten(ReportText& text, std::size_t most);

/// Shortens the longest of them until all together take at most `budget` bytes: texts below the common limit stay
/// whole. Where not even 96 bytes are left for each, the last ones go.
void fit_texts(std::span<ReportText* const> texts, std::size_t budget);

}  // namespace whittle::cli
