#pragma once

#include "whittle/base/language.hpp"
#include "whittle/message/detail/visit_parts.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/summary/config.hpp"
#include "whittle/tokens/counter.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// A file that tool calls named, and what they did with it as far as their arguments tell.
struct FileUse {
    std::string path{};                 ///< as the calls had it
    int writes = 0;                     ///< calls that wrote it
    bool is_read_whole = false;         ///< whether a call read it without naming lines
    std::vector<std::string> ranges{};  ///< lines that were read, such as "10-80" or "from 10"; the newest four

    friend bool operator==(const FileUse&, const FileUse&) = default;
};

/// What somebody who was sent off came back with.
struct Finding {
    std::string tool{};
    std::string task{};  ///< one line of what it was asked, where the arguments say it
    std::string text{};

    friend bool operator==(const Finding&, const Finding&) = default;
};

/// Where the work stands, as the arguments of tool calls tell, word for word.
struct WorkState {
    /// Items of the newest plan or task list, such as "[done] read the code"; empty: it was cleared.
    std::optional<std::vector<std::string>> plan{};
    std::vector<FileUse> files{};     ///< the last used at the end
    std::vector<Finding> findings{};  ///< oldest first

    [[nodiscard]] bool empty() const noexcept { return !plan && files.empty() && findings.empty(); }
    friend bool operator==(const WorkState&, const WorkState&) = default;
};

/// For `Provenance::work_state`, so that it outlives the next fold.
[[nodiscard]] std::string to_note(const WorkState& state);
/// The inverse; empty for what cannot be read.
[[nodiscard]] WorkState work_from_note(std::string_view note);

/// "src/a.cpp (written 2 times, lines 10-80)", without tags of ours.
[[nodiscard]] std::string to_text(const FileUse& file);
/// The inverse; the whole line is the path where nothing says what was done with it.
[[nodiscard]] FileUse file_from_text(std::string_view line);

/// What of it is shown within the limits of `config` and `max_tokens`: the whole plan or as many of its last items as
/// fit, each of at most 1,000 bytes, newest findings, files used last. Empty: nothing.
[[nodiscard]] std::string to_text(const WorkState& state, const PreserveWorkConfig& config, std::int64_t max_tokens,
                                  const TokenCounter& counter, Language language);

namespace detail {

/// The state after the messages at the indices `fold` (ascending), with what earlier summaries among them carry.
/// Linear in the arguments of calls and the results that are findings.
[[nodiscard]] WorkState collect_work(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                                     const PreserveWorkConfig& config);

/// The state after the messages that a fold takes, and that after those that stay.
struct WorkOfFold {
    WorkState folded{};
    WorkState staying{};

    /// `config` for what is shown of the folded: a plan is not the last one while a newer one stays.
    [[nodiscard]] PreserveWorkConfig shown(PreserveWorkConfig config) const {
        if (staying.plan) config.plan_tokens = 0;
        return config;
    }
    /// The same for what stands below a summary. One that is written by rule has plan and files in its own text.
    [[nodiscard]] PreserveWorkConfig shown_below_summary(PreserveWorkConfig config, bool is_by_rule) const {
        config = shown(std::move(config));
        if (is_by_rule) config.plan_tokens = config.file_list_tokens = 0;
        return config;
    }
};
[[nodiscard]] WorkOfFold work_of_fold(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> fold,
                                      const PreserveWorkConfig& config);

}  // namespace detail

}  // namespace whittle::inline v0
