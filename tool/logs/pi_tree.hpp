#pragma once

#include "entries.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::logs {

enum class PiKind : std::uint8_t {
    other,       ///< nothing of it is sent
    message,     ///< `entry`
    failed,      ///< a reply that is not sent again
    prompt,      ///< of the system: `body`, as it was recorded
    compaction,  ///< `entry.message` stands in place of what is in front of `target`; `body`: the system's, or null
    edit,        ///< the message `target` is sent with the content `body`, or not at all where that is null
};

/// A record of a session, which hangs on another one.
struct PiNode {
    static constexpr std::size_t none = SIZE_MAX;

    PiKind kind = PiKind::other;
    Entry entry{};
    ordered_json body{};
    std::size_t target = none;
    std::string trigger{};                        ///< of a compaction
    std::optional<std::int64_t> tokens_before{};  ///< of a compaction
    bool is_reset = false;                        ///< nobody goes back to what is in front of it
    bool is_side_branch = false;                  ///< the session does not go on behind it

    std::size_t parent = none;  ///< in front of this one
    std::size_t reset = none;   ///< the newest reset, up to this one
    std::size_t reply = none;   ///< of a result: the message that it belongs to
    std::size_t place = none;   ///< on the way to the newest one: how many messages are in front
};

/// The records of a session as a tree, of which the newest record tells what the session is by now. A parent is always
/// in front of its children in the file, so that there are no circles.
class PiTree {
public:
    /// Whether a record of this id stood there before, so that this one is a copy of it.
    [[nodiscard]] bool has_copy_of(const ordered_json& record) const;
    /// `record` has the id and the parent; without a parent, or with one that is not known, since its line is lost, it
    /// hangs on the one that the session is at.
    void add(const ordered_json& record, PiNode node);
    /// The session goes on behind another record.
    void go_to(const ordered_json& leaf);

    /// PiNode::none if there is none.
    [[nodiscard]] std::size_t find(std::string_view id) const;
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] bool empty() const noexcept { return nodes_.empty(); }
    [[nodiscard]] PiNode& operator[](std::size_t at) { return nodes_[at]; }
    [[nodiscard]] std::vector<PiNode>& nodes() noexcept { return nodes_; }
    /// From the first record to the one that the session is at.
    [[nodiscard]] std::vector<std::size_t> path() const;

private:
    [[nodiscard]] std::size_t parent_of(const ordered_json& record, bool is_side_branch) const;
    [[nodiscard]] bool is_within_reset(std::size_t at) const;

    std::vector<PiNode> nodes_{};
    std::unordered_map<std::string, std::size_t> places_{};  // by id; PiNode::none: in front of all
    std::size_t leaf_ = PiNode::none;                        // what the session is at
    std::size_t last_ = PiNode::none;                        // what the next record names as its parent
    std::size_t reset_ = PiNode::none;                       // the newest one
};

}  // namespace whittle::inline v0::logs
