#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace whittle::cli {

/// A file without a session.
struct SkippedFile {
    std::string file{};
    std::string reason{};  ///< one for all files alike, such as "no JSON"
    std::string detail{};  ///< what of the reason is of this file alone; may be empty
};

/// "a, b, and 3 more": at most twelve, which are shown as for a terminal already.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);

/// The files of a scan without a session, and why: what is not in the sums is not lost without a word.
class SkippedFiles {
public:
    void add(SkippedFile file) { files_.push_back(std::move(file)); }
    [[nodiscard]] bool empty() const noexcept { return files_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return files_.size(); }
    /// One line: by reason, at most twelve files of each by name. Shown as for a terminal.
    [[nodiscard]] std::string text() const;
    /// A list of `file`, `reason` and `detail`.
    [[nodiscard]] nlohmann::ordered_json json() const;

private:
    std::vector<SkippedFile> files_{};
};

}  // namespace whittle::cli
