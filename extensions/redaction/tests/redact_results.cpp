// Results that are masked before anybody sees them.
#include "whittle/redaction/redact_results.hpp"

#include "support/catch.hpp"
#include "support/storage_tools.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace whittle;

namespace {

const std::string planted = "sk-proj-abcdefghijklmnop0123456789";

/// A conversation of one call, and what a tool gives through a chain of truncation and masks.
struct MaskedCall {
    template <typename Give>
    std::vector<Part> run(Give&& give) {
        const auto calls = chain.pending_tool_calls(conversation, {});
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(calls.at(0), sink, [&](const ToolContext&, PartSink& out) {
            give(out);
            return ToolOutcome{};
        });
        conversation.push_tool_results(std::vector{collect_tool_return(calls[0], sink, std::move(outcome))});
        std::vector<Part> parts;
        message_traits<ChatMessage>::for_each_part(conversation.messages().back(),
                                                   [&](const PartView& part) { parts.push_back(to_part(part)); });
        return parts;
    }

    std::shared_ptr<Storage> store = memory_storage();
    Chain<> chain{ChainConfig{.storage = store}, Reduction<>{{.max_length_for_trunc = 2'000}}, RedactResults<>{}};
    Conversation<> conversation = [] {
        Conversation<> started("conv");
        started.push_back(ChatMessage::user("go"));
        started.push_back(ChatMessage::assistant().call("c1", "read"));
        return started;
    }();
};

}  // namespace

TEST_CASE("a result is masked before the model and the store see it, in whatever pieces it comes", "[redaction]") {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{10'000}}) {
        MaskedCall call;
        std::string text;
        for (int i = 0; i < 300; ++i) text += "line " + std::to_string(i) + ' ' + planted + '\n';
        const auto parts = call.run([&](PartSink& out) {
            for (std::size_t at = 0; at < text.size(); at += step) out.write(std::string_view(text).substr(at, step));
        });
        REQUIRE(parts.size() == 1);
        CHECK(parts[0].text.starts_with("line 0 ***\nline 1 ***\n"));
        CHECK(parts[0].text.find("abcdefgh") == std::string::npos);
        const std::string stored = *call.store->get("conv/trunc/c1");
        CHECK(stored.ends_with("line 299 ***\n"));
        CHECK(stored.find("abcdefgh") == std::string::npos);
        while (call.conversation.undo()) {
        }
        CHECK(text_of(call.conversation.messages().back(), 0) == stored);
    }
}

TEST_CASE("texts and media keep their order, media their bytes, and JSON stays JSON", "[redaction]") {
    MaskedCall call;
    const auto parts = call.run([&](PartSink& out) {
        out.write("key " + planted);
        out.push({.kind = PartKind::media, .media = {.mime = "image/png", .bytes = planted}});
        out.push({.text = R"({"password": "correct horse battery"})"});
        out.write("end");
    });
    REQUIRE(parts.size() == 4);
    CHECK(parts[0].text == "key ***");
    CHECK(parts[1].media.bytes == planted);
    CHECK(parts[2].text == R"({"password": "***"})");
    CHECK(parts[3].text == "end");
}

TEST_CASE("what a failing tool has given is masked and shown", "[redaction]") {
    MaskedCall call;
    const auto calls = call.chain.pending_tool_calls(call.conversation, {});
    CollectingSink sink;
    CHECK_THROWS_AS((void)call.chain.wrap_tool(calls.at(0), sink,
                                               [&](const ToolContext&, PartSink& out) -> ToolOutcome {
                                                   out.write("until " + planted);
                                                   throw std::runtime_error("broken off");
                                               }),
                    std::runtime_error);
    const std::vector<Part> parts = sink.take();
    REQUIRE(parts.size() == 1);
    CHECK(parts[0].text == "until ***");
}
