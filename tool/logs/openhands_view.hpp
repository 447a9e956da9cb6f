#pragma once

#include "entries.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0::logs {

/// What OpenHands sends of a conversation: its messages by the events that gave them, without those that condensations
/// forgot. Events stand in a tree; one whose parent is further up takes back what stood behind that.
class OpenHandsView {
public:
    /// Goes to where the event's parent stands. Call it for each event that is part of the tree, before it is added.
    void move_to(const ordered_json& event, LogNotes& notes);

    /// An event that gives no message, and may be the parent of others.
    void pass(const ordered_json& event, LogNotes& notes) {
        move_to(event, notes);
        walk(event);
    }
    /// The system text, which is an event of the view without being a message here.
    void add_system(const ordered_json& event) { put(event, {}); }
    void add(const ordered_json& event, Entry entry);
    /// The reply that an action of this response belongs to: the newest message. Null if it is none, or another one's.
    [[nodiscard]] Entry* open_reply(std::string_view response);
    /// The event is a further part of the newest message.
    void join(const ordered_json& event);
    /// Takes forgotten events out of requests from now on, and puts the summary among the rest.
    void condense(const ordered_json& condensation, LogNotes& notes);

    /// Responses whose replies were taken back; how they were billed is not known here.
    [[nodiscard]] const std::vector<std::string>& taken_back() const noexcept { return taken_back_; }
    [[nodiscard]] Entries take_entries() { return std::move(entries_); }

private:
    /// An event of the view: a message, or the summary of a condensation, or the system text.
    struct Item {
        std::string event{};
        std::size_t step = 0;  // of the path
        std::optional<std::size_t> entry{};
        std::string summary{};
    };
    /// An event from the root to the newest one, and how many messages there were with it.
    struct Step {
        std::string event{};
        std::size_t entries = 0;
    };
    /// What was sent before a condensation, to go back to.
    struct Condensed {
        std::size_t step = 0;
        std::optional<std::vector<Item>> view{};  // nullopt: there were too many of them
    };

    using Items = std::list<Item>;

    void put(const ordered_json& event, Item item);
    void insert(Items::iterator place, Item item);
    void erase(Items::iterator item);
    void restore(const std::vector<Item>& view);
    void forget(const ordered_json& ids);
    [[nodiscard]] Items::iterator place_at(std::size_t offset);
    void walk(const ordered_json& event);
    void go_back_to(std::size_t steps);
    [[nodiscard]] std::vector<ordered_json> messages() const;
    [[nodiscard]] bool may_copy_view();
    /// As `messages` copies them: each message once.
    [[nodiscard]] bool may_copy_messages();

    Entries entries_{};
    Items view_{};
    std::map<std::size_t, Items::iterator> by_step_{};                          // of the view
    std::unordered_map<std::string, std::vector<Items::iterator>> by_event_{};  // of the view
    std::vector<Step> path_{};
    std::unordered_map<std::string, std::size_t> step_of_{};  // events of the path
    std::vector<Condensed> condensed_{};
    std::vector<std::string> taken_back_{};
    CopyBudget copies_{};
};

}  // namespace whittle::inline v0::logs
