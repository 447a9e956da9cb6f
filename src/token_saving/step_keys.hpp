// Steps made comparable: what differs between two runs of the same command without meaning anything is left out.
#pragma once

#include "whittle/base/hash.hpp"
#include "whittle/token_saving/steps.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whittle::inline v0::detail {

struct StepKey {
    Hash128 input{};  ///< of action and arguments; without a call of the thought
    Hash128 whole{};  ///< of these and the observation
    bool is_call = false;
};

[[nodiscard]] std::vector<StepKey> keys_of(std::span<const Step> steps);

/// `text` with single blanks, without clock times, durations and addresses. Of a shortened observation words with
/// digits or slashes are left out too: they name places in a store.
[[nodiscard]] std::string normal_observation(std::string_view text, bool is_shortened);

/// What a step did to a file.
struct FileEdit {
    std::string path{};
    std::optional<std::string> before{};  ///< absent: the whole file was written
    std::string after{};
};

[[nodiscard]] std::optional<FileEdit> edit_of(const Step& step);
[[nodiscard]] bool reverts_edit(const FileEdit& edit, const FileEdit& earlier);

}  // namespace whittle::inline v0::detail
