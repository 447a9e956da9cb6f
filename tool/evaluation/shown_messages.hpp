#pragma once

#include "named_objects.hpp"
#include "session_data.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace whittle::inline v0::evaluation {

/// What the newest request of a run shows of the recording. Takes requests one after the other and looks only at what
/// differs from the one before.
class ShownMessages {
public:
    explicit ShownMessages(const SessionData& session);

    /// Takes the request before call `call`. Throws Error(invalid_argument) for a message that is recorded only later.
    void take(std::size_t call, const Request& request);

    /// System text, then messages.
    [[nodiscard]] std::span<const PieceId> pieces() const noexcept { return pieces_; }
    /// In front of each piece, and of all, with the tools.
    [[nodiscard]] std::span<const std::int64_t> tokens_before() const noexcept { return tokens_before_; }
    [[nodiscard]] std::int64_t total() const noexcept { return tokens_before_.back(); }
    /// Pieces at the front that the request before had too.
    [[nodiscard]] std::size_t common() const noexcept { return common_; }
    /// Tokens of that front, with the shared head of a message that was edited.
    [[nodiscard]] std::int64_t common_tokens() const noexcept { return common_tokens_; }
    [[nodiscard]] bool was_edited() const noexcept { return was_edited_; }
    /// The place of the first piece that stands for recorded message `message` or a later one.
    [[nodiscard]] std::size_t place_of(std::size_t message) const;
    [[nodiscard]] const PieceTable& table() const noexcept { return table_; }

    [[nodiscard]] bool is_shown_whole(std::size_t message) const { return states_[message].is_whole; }
    /// What stands in its place; nothing where it was left out.
    [[nodiscard]] std::optional<PieceId> variant_of(std::size_t message) const { return states_[message].piece; }
    /// Model calls between its first request and the one from which on it was not as in the first; absent if never.
    [[nodiscard]] std::optional<std::size_t> calls_kept(std::size_t message) const;
    [[nodiscard]] bool shows(Needle needle) const;
    /// In a changed message, or one that a strategy made up.
    [[nodiscard]] bool others_show(Needle needle) const { return shown_by_others_[needle] > 0; }
    /// Recorded messages that are new to the requests or may stand there in another form than before.
    [[nodiscard]] const std::vector<std::size_t>& touched() const noexcept { return touched_; }
    /// Changed messages and those that a strategy made up, each once, in order.
    [[nodiscard]] const std::vector<PieceId>& others();

    /// The piece of a message that stands in no request, such as a summarizer's.
    PieceId add_piece(const Message& message);

private:
    struct State {
        std::optional<PieceId> piece{};
        std::optional<std::size_t> arrived{};  // call
        std::optional<std::size_t> left{};
        bool is_whole = false;
    };
    static constexpr std::size_t invented = SIZE_MAX;

    struct Held {
        std::shared_ptr<const Message> message{};
        PieceId piece = 0;
    };

    [[nodiscard]] PieceId piece_of(const SentMessage& sent);
    void find_common(std::span<const PieceId> tail, std::size_t keep);
    void forget_tail();
    void push(PieceId piece, std::size_t recorded, std::size_t reply);
    [[nodiscard]] std::size_t original_of(PieceId piece, std::size_t from) const;
    [[nodiscard]] std::size_t first_named(const Message& message) const;
    [[nodiscard]] bool is_whole(PieceId piece, std::size_t recorded) const;
    void count_other(PieceId piece, bool is_added);
    void note_what_left(std::size_t call);
    void note_what_arrived(std::size_t call);
    const std::vector<Needle>& needles_in(PieceId piece);

    const SessionData& session_;
    PieceTable table_;
    std::unordered_map<const Message*, Held> held_{};
    std::size_t lead_;  // pieces in front of the messages: the system text
    std::vector<PieceId> pieces_{};
    std::vector<std::size_t> recorded_{};  // by piece place; `invented`
    std::vector<std::size_t> next_{};      // by piece place: the first recorded message that may stand behind it
    std::vector<std::int64_t> tokens_before_{};
    std::size_t common_ = 0;
    std::int64_t common_tokens_ = 0;
    bool was_edited_ = false;
    std::vector<State> states_;   // by recorded message
    std::size_t arrived_to_ = 0;  // recorded messages in front of the call
    std::vector<std::size_t> touched_{};
    std::vector<std::pair<std::size_t, PieceId>> before_{};  // recorded messages of the tail that went
    std::unordered_map<PieceId, int> other_count_{};         // places of each changed or invented piece
    std::vector<PieceId> others_{};
    bool are_others_known_ = false;
    std::unordered_map<PieceId, std::vector<Needle>> needles_{};
    std::vector<int> shown_by_others_;  // by needle: distinct other pieces that hold it
};

}  // namespace whittle::inline v0::evaluation
