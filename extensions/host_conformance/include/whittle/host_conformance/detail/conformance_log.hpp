#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/host_conformance/detail/conformance_types.hpp"
#include "whittle/message/chat_message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// What became of each check.
class ConformanceLog {
public:
    explicit ConformanceLog(const ConformanceOptions& options);

    /// Counts a try of the check `name`, and a failure where `holds` is false. `what` is asked then.
    bool check(std::string_view name, bool holds, FunctionRef<std::string()> what);
    /// Runs `action`; what it throws is a failure of the check `name`.
    bool guard(std::string_view name, FunctionRef<void()> action);
    [[nodiscard]] ConformanceReport& report() noexcept { return report_; }

private:
    const ConformanceOptions* options_;
    ConformanceReport report_{};
};

/// Throws Error(invalid_argument).
void require_conformance_input(bool has_functions, const ConformanceOptions& options);

/// Messages of all shapes, neutral of any type, the same for a seed.
class ConformanceMessages {
public:
    ConformanceMessages(std::uint64_t seed, bool utf8_only) noexcept : state_(seed), utf8_only_(utf8_only) {}
    [[nodiscard]] ChatMessage next();
    /// Results of one reply: their ids differ.
    [[nodiscard]] std::vector<ToolResult> next_results();
    [[nodiscard]] std::uint64_t below(std::uint64_t n) noexcept;

private:
    [[nodiscard]] std::string allowed(const std::string& text) const;
    [[nodiscard]] std::string text(PartKind kind);
    [[nodiscard]] std::string id();
    [[nodiscard]] std::string arguments();
    [[nodiscard]] Part media();
    void add_texts(ChatMessage& m, std::uint64_t at_most);
    void add_calls(ChatMessage& m, std::uint64_t at_most);
    void add_result(ChatMessage& m);

    std::uint64_t state_;
    bool utf8_only_;
    std::array<std::size_t, 6> hostile_{};  // by kind of part: such texts come in turns, so that each does
};

/// What a part is set to: words, and what is not words. For a tool call, JSON objects; never empty.
[[nodiscard]] std::span<const std::string> replacement_texts(PartKind kind);
/// What is no JSON object.
[[nodiscard]] std::span<const std::string> bad_arguments();

/// Compares what is shown of a message with what it was built of, and names what differs. A type may show more than it
/// was given: the type of media that it knows from a URL, and an empty text behind media that are all of a result.
void check_shown(ConformanceLog& log, const std::vector<Part>& expected, const std::vector<Part>& shown,
                 bool results_name_tools);
/// Likewise, where one check stands for all of it; an empty text that is not shown is as good as one that is.
[[nodiscard]] bool shows(const std::vector<Part>& expected, const std::vector<Part>& shown, bool results_name_tools);
/// Whether `shown` has the results, the texts of one call joined. A type without media in results may put them
/// elsewhere.
[[nodiscard]] bool shows_results(std::span<const ToolResult> results, std::vector<Part> shown, bool with_errors,
                                 bool with_media, bool results_name_tools);

/// Parts in one line, texts cut.
[[nodiscard]] std::string describe_parts(const std::vector<Part>& parts);
[[nodiscard]] std::string describe_results(std::span<const ToolResult> results);
/// Two dumps from where they differ.
[[nodiscard]] std::string describe_difference(std::string_view expected, std::string_view found);
/// Whether every value given to a field is still in `dump`, but those of `without` (a part that is gone).
[[nodiscard]] bool keeps_fields(const FieldValues& given, std::string_view before, std::string_view after,
                                std::size_t without);

inline constexpr std::size_t no_part = static_cast<std::size_t>(-1);

}  // namespace whittle::inline v0::detail
