#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/conversation/detail/changes.hpp"
#include "whittle/conversation/detail/conversation_caches.hpp"
#include "whittle/conversation/detail/notes.hpp"
#include "whittle/conversation/detail/object_names.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/conversation/detail/token_columns.hpp"
#include "whittle/conversation/journal.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/message/detail/group_finder.hpp"
#include "whittle/message/outline.hpp"
#include "whittle/model/model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whittle::inline v0 {

/// The numbers and flags of a conversation. They are saved with it, and put back as a whole when an append or a hook
/// fails.
struct Counters {
    std::uint64_t version = 0;            ///< goes up with every change
    Serial next_serial = 1;               ///< of the next message
    std::uint64_t next_entry = 1;         ///< of the journal
    int turn = 0;                         ///< number of the newest turn; 0: none yet
    int run = 0;                          ///< how many runs were begun
    int model_calls = 0;                  ///< model replies so far
    std::int64_t read_backs = 0;          ///< tool results so far that showed a stored text again
    bool explicit_turns = false;          ///< whether the host begins turns itself
    std::int64_t reported_tokens = 0;     ///< the provider's last usage, 0 for none
    Serial reported_at = 0;               ///< the reply that carried it; 0 if the conversation was edited since
    bool thinking_prefix_edited = false;  ///< something in front of kept thinking was edited
    bool request_edited = false;          ///< the same by other tools or another system text
    Hash128 request{};                    ///< fingerprint of these; 0 before the first request that was looked at
    std::size_t sent = 0;                 ///< messages of the last model request

    friend bool operator==(const Counters&, const Counters&) = default;
};

namespace detail {

/// What a conversation knows beside its messages, whatever their type is. `infos` has an entry for each message.
struct SideTable {
    explicit SideTable(std::string name);
    SideTable(const SideTable&);
    SideTable(SideTable&&) noexcept;
    SideTable& operator=(SideTable&&) noexcept;
    ~SideTable();

    std::string id;
    std::vector<MessageInfo> infos{};
    TokenColumns columns{};
    ObjectNames names{};
    GroupFinder groups{};
    std::shared_ptr<StoredObjects> objects;  // null once moved from
    NoteBook notes{};
    ChangeLog log{};
    Counters counters{};
    std::uint64_t epoch = 0;  // grows with every move of a message, never goes back: plans hold addresses
    std::uint64_t edits = 0;  // grows with everything but appends, never goes back
    OwnAttachments caches{};
    std::size_t thinking_messages = 0;

    [[nodiscard]] Outline outline() const noexcept { return Outline(std::span(infos)); }
    [[nodiscard]] bool has_thinking() const noexcept { return thinking_messages > 0; }
    [[nodiscard]] StoredObjects& own_objects();

    /// Serial, call and turn of a message that is about to be appended.
    void number(MessageInfo& info) const noexcept;
    /// Makes room for one message more, finds its tool round and names its calls. Behind it, `append` cannot fail.
    void prepare(MessageInfo& info);
    void append(MessageInfo&& info) noexcept;
    /// The newest message is a model's reply.
    void note_reply(const std::optional<Usage>& usage);
    /// The column of a counter; a new one gets what `count` says of each message. Strong guarantee.
    [[nodiscard]] std::size_t column(const std::shared_ptr<const TokenCounter>& counter,
                                     FunctionRef<std::int64_t(std::size_t)> count);

    /// Of a message that comes into the list or leaves it elsewhere than at its end.
    void add_to_sums(const MessageInfo& info) noexcept;
    void take_from_sums(const MessageInfo& info) noexcept;
    /// Messages move, or go.
    void note_moved() noexcept;

    /// The objects of a journal entry that a tool's result brought along, and whether it read some back.
    void note_returned(JournalRecord& record, const ToolReturn& returned);

    /// The size of a request by a column, which is taken out again if that fails and it `is_new`.
    [[nodiscard]] ContextCount context(std::size_t column, bool is_new, std::string_view system,
                                       std::span<const ToolSpec> tools);
    [[nodiscard]] std::vector<std::int64_t> tokens_of_each(std::size_t column) const;
    /// Of what the last request sent, from message `first` on.
    [[nodiscard]] std::int64_t sent_tokens_from(std::size_t first, std::size_t column) const noexcept;
    /// False if there is no such message.
    bool set_pinned(Serial serial, bool pinned);
    void pin(const std::function<bool(const MessageInfo&)>& predicate);
    void mark(std::size_t index, Provenance provenance);
    /// Messages from `last` on up to the last one whose tool round began in [first, last): they have to find a new one.
    [[nodiscard]] std::size_t count_cut_off(std::size_t first, std::size_t last) const;

    /// A counter that comes after a usage was reported can still use it, if nothing was edited since.
    void anchor_late(std::size_t column);
    /// What is known of the next journal entry.
    [[nodiscard]] JournalRecord new_record(JournalRecord::Kind kind, std::string by, std::string reason) const;
    /// A change of the table alone.
    void new_version();
    /// Other tools or another system text are an edit in front of all thinking: true if they are others and there is
    /// thinking.
    bool note_request(const Hash128& request) noexcept;

    /// To take back what is appended from here on.
    struct Tail {
        std::size_t size = 0;
        std::size_t log = 0;
        TokenColumns columns{};
        Counters counters{};
    };
    [[nodiscard]] Tail tail() const;
    void cut_back(Tail& to) noexcept;

    /// To take back the commits of a hook, and what its middlewares noted.
    struct Savepoint {
        std::size_t log = 0;
        std::size_t columns = 0;
        NoteBook notes{};
        Counters counters{};
    };
    [[nodiscard]] Savepoint savepoint() const;
    void roll_back(const Savepoint& to) noexcept;

    /// Takes in what was saved; token counts are made again.
    void load(std::vector<MessageInfo> saved, NoteBook saved_notes, const Counters& saved_counters);
    /// Names of calls that are in use already.
    void take_names(const std::vector<MessageInfo>& of);
};

/// To take back what a hook did to a conversation.
struct Savepoint {
    std::size_t journal = 0;
    SideTable::Savepoint side{};
};

}  // namespace detail

}  // namespace whittle::inline v0
