#pragma once

#include "call_notes.hpp"

#include "whittle/summary/detail/work_state.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::detail {

/// Gathers the state of the work from messages in their order.
class WorkCollector {
public:
    /// `config` is borrowed.
    explicit WorkCollector(const PreserveWorkConfig& config) : config_(config) {}

    /// What an earlier summary carries.
    void add_carried(const WorkState& state);
    /// A call and what its arguments say. `info`: what is known of it.
    void add_call(const PartView& call, const PartInfo& info, const CallNotes& notes);
    /// A result that nobody has edited.
    void add_result(const PartView& result, const PartInfo& info);
    [[nodiscard]] WorkState take();

private:
    struct Used {
        FileUse file{};
        std::size_t order = 0;
    };

    void touch(const FileTouch& touch);
    Used& use(const std::string& path);

    const PreserveWorkConfig& config_;
    std::optional<std::vector<std::string>> plan_{};
    std::map<std::string, Used, std::less<>> files_{};
    std::vector<Finding> findings_{};
    std::unordered_map<std::string, std::string> tasks_{};  // by the name of the call's object
    std::string newest_result_{};                           // the object of the newest finding's call
    std::size_t uses_ = 0;
};

}  // namespace whittle::inline v0::detail
