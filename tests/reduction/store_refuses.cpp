// A store that refuses a write is told of, whoever writes.
#include "support/catch.hpp"
#include "tools.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// Reads, but takes nothing.
class FullStorage final : public Storage {
public:
    void put_if_absent(std::string_view, std::string_view) override {
        throw Error(Errc::storage_failed, "put: no space left");
    }
    std::optional<std::string> get(std::string_view, std::int64_t, std::int64_t) override { return std::nullopt; }
};

/// Says of every key that another has it.
class TakenStorage final : public Storage {
public:
    class Writer final : public StorageWriter {
    public:
        void write(std::string_view) override {}
        void commit(std::string_view key) override { refuse(key); }
    };

    void put_if_absent(std::string_view key, std::string_view) override { refuse(key); }
    std::optional<std::string> get(std::string_view, std::int64_t, std::int64_t) override { return "another's"; }
    std::unique_ptr<StorageWriter> open_writer() override { return std::make_unique<Writer>(); }

private:
    [[noreturn]] static void refuse(std::string_view key) {
        throw Error(Errc::already_exists, "put \"" + std::string(key) + "\": the key exists with other content");
    }
};

AnyConversation three_long_rounds(const MessageType& type) {
    AnyConversation c(type);
    c.push_back(ChatMessage::user("do"));
    for (const char* id : {"a", "b", "c"}) {
        c.push_back(ChatMessage::assistant("").call(id, "read", R"({"path":")" + std::string(900, 'p') + "\"}"));
        c.push_back(ChatMessage::result(id, "read", "output of " + std::string(id) + std::string(4'000, 'x')));
    }
    return c;
}

std::vector<std::string> store_failures_in(const std::vector<std::string>& events) {
    std::vector<std::string> found;
    std::ranges::copy_if(events, std::back_inserter(found),
                         [](const std::string& e) { return e.starts_with("store_failed: "); });
    return found;
}

}  // namespace

TEST_CASE("clearing tells once how many writes a store refused, which was the first, and why", "[reduction]") {
    WITH_EACH_MESSAGE_TYPE(type);
    ReductionConfig config{.skip_truncation = true, .max_tokens_for_clear = 100};
    config.clear_tool_inputs = true;
    const Bench bench = Bench::of(type, config, {}, {.storage = std::make_shared<FullStorage>()});
    const AnyConversation c = three_long_rounds(type);
    const std::vector<std::string> before = c.bytes();
    CHECK(bench.chain.before_model(c).stages[0].outcome == Outcome::store_failed);
    CHECK(c.bytes() == before);
    const std::vector<std::string> told = store_failures_in(bench.events);
    REQUIRE(told.size() == 1);
    CHECK(has(told[0], "2 objects could not be stored, the first of them \"conv/clear/a\": put: no space left"));
    CHECK(c.report().stages[0].details->store_failures.size() == 2);
    for (const Candidate& candidate : c.report().stages[0].details->candidates) {
        CHECK_FALSE(candidate.removed);
        CHECK(candidate.tokens_freed == 0);
    }
}

TEST_CASE("a truncation handler whose object is refused leaves the result, and the store's refusal is told",
          "[truncation]") {
    ReductionCallbacks<> callbacks;
    callbacks.tool_config["tool"].trunc_handler = [](const ToolDetail&) {
        return TruncResult{.need_trunc = true,
                           .replacement_parts = {{.text = "short"}},
                           .need_offload = true,
                           .offload_content = "all"};
    };
    const Bench bench({}, {}, {.storage = std::make_shared<FullStorage>()}, callbacks);
    CHECK(bench.run("a", {"whole"}).result.parts[0].text == "whole");
    REQUIRE(store_failures_in(bench.events).size() == 1);
    CHECK(has(bench.events[bench.events.size() - 2], "\"conv/trunc/a\" could not be stored: put: no space left"));
}

TEST_CASE("a store that calls every key taken is asked for so many numbers, and its results stay", "[reduction]") {
    ReductionConfig config{.max_length_for_trunc = 1'000, .max_tokens_for_clear = 100};
    const Bench bench(config, {}, {.storage = std::make_shared<TakenStorage>()});
    const std::string whole(5'000, 'x');
    for (const bool streams : {false, true}) {
        CAPTURE(streams);
        CHECK(bench.run_text("a", whole, streams).result.parts[0].text == whole);
        CHECK(has(bench.events.back(),
                  "find a free key for \"conv/trunc/a\": the store says that this one and all others up to "
                  "\"conv/trunc/a-10001\" have other content; remove objects that are no longer needed"));
    }
    const AnyConversation c = three_long_rounds(*message_types().front());
    const std::vector<std::string> before = c.bytes();
    CHECK(bench.chain.before_model(c).stages[0].outcome == Outcome::failed);
    CHECK(c.bytes() == before);
    CHECK(has(c.report().stages[0].details->error, "find a free key for \"conv/clear/a\""));
}
