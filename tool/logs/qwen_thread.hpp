#pragma once

#include "qwen_messages.hpp"
#include "qwen_usage.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whittle::inline v0::logs {

/// What of a record of Qwen Code the session is made of.
struct QwenRecord {
    enum class Kind : std::uint8_t { input, reply, other };

    Kind kind = Kind::other;
    std::string subtype{};
    ordered_json message{};  ///< a content; null: none
    ordered_json payload{};  ///< of compressions, commands and what forked agents begin with
    std::optional<Call> call{};
    std::optional<QwenCounts> counts{};  ///< that the call was billed
    std::optional<double> time{};
    std::size_t line = 0;
};

/// A conversation of Qwen Code: that of a session, or of a sub-agent. Its records form a tree. The branch that the
/// newest one is on is the conversation; what stands beside it was taken back.
class QwenThread {
public:
    /// `agent`: the name of the sub-agent; empty: it is none.
    explicit QwenThread(std::string_view agent) : agent_(agent) {}

    /// Takes what is needed out of the record.
    void add(ordered_json& record, std::size_t line, LogNotes& notes);
    void finish(Session& session, LogNotes& notes);

    std::string version{};
    std::string folder{};
    std::string parent{};  ///< the session that started it, as it says itself

private:
    static constexpr std::size_t none = SIZE_MAX;

    static void note_kind(bool is_system, const std::string& subtype, LogNotes& notes);
    void add_event(const ordered_json& record, std::string_view uuid);
    void add_again(std::size_t first, ordered_json& record, LogNotes& notes);
    [[nodiscard]] static QwenRecord record_of(ordered_json& record, std::size_t line);
    static bool take_bill(const ordered_json& record, QwenRecord& reply);
    void bill_replies();
    [[nodiscard]] std::size_t parent_of(const ordered_json& record, LogNotes& notes) const;
    [[nodiscard]] std::vector<bool> records_of_branch() const;
    void add_record(QwenRecord& record, QwenMessages& messages);

    std::string agent_;
    std::vector<QwenRecord> records_{};
    std::vector<std::size_t> parents_{};                     // of each; `none`: the branch begins with it
    std::unordered_map<std::string, std::size_t> places_{};  // by uuid
    bool was_command_run_ = false;                           // since the newest message
    QwenBills bills_{};
};

}  // namespace whittle::inline v0::logs
