// A trigger that is a part of the model's window, where nobody knows the window yet.
#include "whittle/compaction/compaction.hpp"
#include "whittle/summarization/summarization.hpp"

#include "support/catch.hpp"
#include "talk.hpp"

#include <memory>
#include <string>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Asked before and after an overflow that tells a window of 4,000 tokens; with a conversation of about 6,000.
void expect_to_wait(const Chain<>& chain) {
    REQUIRE(chain.config_warnings().size() == 1);
    CHECK(chain.config_warnings()[0].allowed.find("waits") != std::string::npos);
    Conversation<> conversation("waiting");
    push_all(conversation, long_talk(3, 4, 2'000));
    CHECK(chain.before_model(conversation).stages.at(0).outcome == Outcome::not_due);
    CHECK(conversation.size() == 31);
    CHECK(chain.on_overflow(conversation, {.context_limit_tokens = 4'000, .requested_tokens = 6'000}));
    push_all(conversation, long_talk(2, 4, 2'000));
    const StageReport& report = chain.before_model(conversation).stages.at(0);
    CHECK(report.outcome == Outcome::committed);
    CHECK(report.threshold == 2'000);
}

}  // namespace

TEST_CASE("a summary that is due at a part of the window waits until the window is known, with a warning",
          "[summarization]") {
    expect_to_wait(Chain<>({}, Summarization<>{std::make_shared<Summarizer<ChatMessage>>(good_summary()),
                                               {.trigger = {.context_fraction = 0.5}, .keep_recent_tokens = 0}}));
}

TEST_CASE("a compaction whose threshold is a part of the window waits until the window is known, with a warning",
          "[compaction]") {
    CompactionConfig config{.threshold_fraction = 0.5, .target_tokens = 1'500, .summary_size_tokens = 500};
    expect_to_wait(Chain<>({}, Compaction<>{std::make_shared<Summarizer<ChatMessage>>(good_summary()), config}));
}
