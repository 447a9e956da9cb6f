#pragma once

#include "explanation.hpp"
#include "report_text.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace whittle::cli {

/// One request of a session, by the chain's own counter. Costs are of the input, in tokens at the plain input price.
struct StoryCall {
    std::int64_t tokens_recorded = 0;
    std::int64_t tokens_sent = 0;
    std::int64_t cached = 0;  ///< of what is sent
    double cost_recorded = 0;
    double cost_sent = 0;
    std::int64_t edits = 0;  ///< messages that this request is the first to show changed
};

/// A message that stood in a request.
struct StoryMessage {
    std::optional<std::size_t> recorded{};  ///< index in the recording; absent: the chain wrote it
    std::int64_t call = 0;                  ///< the first request that has it
    std::string role{};
    std::string tool{};  ///< of a result
    std::int64_t tokens = 0;
    ReportText text{};
    bool is_edited = false;
};

/// What became of a message from a request on.
struct StoryEdit {
    std::size_t message = 0;  ///< index in `SessionStory::messages`
    ExplainedEdit edit{};
    Fate fate = Fate::kept;
    std::int64_t tokens_before = 0;
    std::int64_t tokens = 0;
    ReportText text{};                     ///< what is sent in its place; empty if nothing is
    std::optional<std::size_t> summary{};  ///< message that stands for it
};

/// All edits of one kind.
struct StoryRule {
    std::string by{};    ///< middleware
    std::string rule{};  ///< of the plan, or the reason where it lists none
    Fate fate = Fate::kept;
    std::int64_t messages = 0;
    std::int64_t tokens_before = 0;
    std::int64_t tokens = 0;
};

/// A session as a report shows it: its requests, its messages, and what a chain did to them.
struct SessionStory {
    std::string chain{};
    std::string counter{};
    std::vector<StoryCall> calls{};
    std::vector<StoryMessage> messages{};  ///< in the order in which they came
    std::vector<StoryEdit> edits{};        ///< oldest first
    std::vector<StoryRule> rules{};        ///< of all edits; what took most first
    std::int64_t messages_left_out = 0;    ///< not listed, since there are too many
    std::int64_t edits_left_out = 0;
};

/// The sums over all edits, what took most first.
[[nodiscard]] std::vector<StoryRule> rules_of(const std::vector<StoryEdit>& edits);

/// At most this many stay, those that were edited and the oldest first; the rest is counted.
inline constexpr std::size_t most_story_messages = 24'000;
inline constexpr std::size_t most_story_edits = 12'000;
void bound_lists(SessionStory& story);

/// Shortens the texts of all stories together to `budget` bytes of the report's data, as `fit_texts` does. A quarter of
/// it is for messages that nothing was done to, unless they need less.
void fit_stories(std::vector<SessionStory*> stories, std::size_t budget);

}  // namespace whittle::cli
