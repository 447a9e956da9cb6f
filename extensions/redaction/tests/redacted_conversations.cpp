// Conversations over a store that masks: what the store holds, and what the conversation still has.
#include "whittle/redaction/redacted_storage.hpp"

#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/generators_messages.hpp"
#include "support/laws_world.hpp"
#include "support/soak.hpp"
#include "support/storage_tools.hpp"
#include "whittle/compaction/compaction.hpp"
#include "whittle/conversation/read_offloaded.hpp"
#include "whittle/durable/durable.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/pruning/fetch_media.hpp"
#include "whittle/pruning/pruning.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/summarization/summarization.hpp"
#include "whittle/token_saving/token_saving.hpp"
#include "whittle/trimming/trimming.hpp"

#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

const std::string hidden_core = "abcdefghijklmnop0123456789";
const std::string hidden = "sk-proj-" + hidden_core;

/// No object of the store holds the secret.
void check_hidden(Storage& inner) {
    std::size_t objects = 0;
    inner.list("", [&](const ObjectInfo& object) {
        CAPTURE(object.key);
        CHECK(inner.get(object.key)->find(hidden_core) == std::string::npos);
        return ++objects > 0;
    });
    CHECK(objects > 0);
}

template <AgentMessage M>
void push(Conversation<M>& c, const ChatMessage& m) {
    for (M& built : Builder<M>::build(m)) c.push_back(std::move(built));
}

/// Rounds of a tool whose arguments and results hold the secret.
template <AgentMessage M>
void push_rounds(Conversation<M>& c, int first, int count) {
    for (int i = first; i < first + count; ++i) {
        const std::string id = "c" + std::to_string(i);
        if (i % 5 == 1) push(c, ChatMessage::user("use " + hidden));
        push(c, ChatMessage::assistant("reading").call(id, "read", R"({"token":")" + hidden + R"("})"));
        push(c, ChatMessage::result(id, "read", "page " + id + ' ' + hidden + std::string(4'000, '.')));
    }
}

template <AgentMessage M>
std::vector<std::string> bytes_of(const Conversation<M>& c) {
    std::vector<std::string> bytes;
    for (const M& m : c.messages()) bytes.push_back(message_traits<M>::to_bytes(m));
    return bytes;
}

ReductionConfig clearing() { return {.max_tokens_for_clear = 4'000, .clear_target_tokens = 2'000}; }

}  // namespace

TEST_CASE("texts that leave a request are masked in the store, and undo gives the originals while they are in memory",
          "[redaction]") {
    for_each_message_type([&](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (HasCodec<M>) {
            CAPTURE(Builder<M>::name);
            const auto inner = memory_storage();
            const Chain<M> chain(ChainConfig{.storage = redacted_storage(inner)}, Reduction<M>{clearing()});
            Conversation<M> c("conv");
            push_rounds(c, 1, 12);
            const auto before = bytes_of(c);
            REQUIRE(chain.before_model(c).changed());
            check_hidden(*inner);
            const auto cleared = bytes_of(c);
            const std::size_t objects = keys_below(*inner, "").size();
            CHECK_FALSE(chain.before_model(c).changed());
            while (c.undo()) {
            }
            CHECK(bytes_of(c) == before);
            c.pin([](const MessageInfo&) { return false; });
            for (std::size_t i = 0; i < c.size(); ++i) c.unpin(c.outline()[i].serial);
            REQUIRE(chain.before_model(c).changed());  // the same again: no second object of anything
            CHECK(bytes_of(c) == cleared);
            CHECK(keys_below(*inner, "").size() == objects);
        }
    });
}

TEST_CASE("every middleware that stores or writes a summary leaves no secret in the store, and undoes to the originals",
          "[redaction]") {
    const auto model = std::make_shared<ScriptedModel<ChatMessage>>([](const ModelRequest<ChatMessage>&) {
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>\nthe key is " + hidden + "\n</summary>")};
    });
    PruningConfig pruning = budget_pruning();
    pruning.protect_newest_tokens = pruning.minimum_gain_tokens = 0;
    using Made = std::shared_ptr<Middleware<>>;
    const std::vector<Made> middlewares{
        std::make_shared<Pruning<>>(pruning), std::make_shared<Compaction<>>(model, CompactionConfig{}),
        std::make_shared<Summarization<>>(
            model, SummarizationConfig{.trigger = {.context_tokens = 3'000}, .keep_recent_tokens = 500}),
        std::make_shared<Trimming<>>(), std::make_shared<TokenSaving<>>()};
    int changed = 0;
    for (const Made& middleware : middlewares) {
        CAPTURE(middleware->name());
        const auto inner = memory_storage();
        const auto store = redacted_storage(inner);
        const Chain<> chain(ChainConfig{.storage = store}, {}, {middleware});
        auto durable = DurableConversation<>::open(store, "conv", {.writer = "one"});
        std::vector<std::string> originals;
        for (int i = 1; i <= 20; ++i) {
            const std::size_t first = durable->size();
            push_rounds(*durable, i, 1);
            for (const ChatMessage& m : durable->messages().subspan(first))
                originals.push_back(message_traits<ChatMessage>::to_bytes(m));
            changed += chain.before_model(*durable).changed() ? 1 : 0;
            durable.save();
        }
        changed += chain.compact_now(*durable, {.target_tokens = 2'000}).changed() ? 1 : 0;
        durable.save();
        durable.compact_log();
        check_hidden(*inner);
        while (durable->undo()) {
        }
        CHECK(bytes_of(*durable) == originals);
        durable.save();
        check_hidden(*inner);
        CHECK(read_durable(store, "conv").size() == originals.size());
    }
    CHECK(changed >= 4);
}

TEST_CASE("a result that is cut while it comes is masked in the store, and reading it back says so", "[redaction]") {
    const auto inner = memory_storage();
    const auto store = redacted_storage(inner);
    const Chain<> chain(ChainConfig{.storage = store}, Reduction<>{{.max_length_for_trunc = 2'000}});
    Conversation<> c("conv");
    c.push_back(ChatMessage::user("go"));
    c.push_back(ChatMessage::assistant().call("c1", "read", "{}").call("c2", "other", "{}"));
    const auto calls = chain.pending_tool_calls(c, {});
    REQUIRE(calls.size() == 2);
    std::vector<ToolReturn> returns;
    for (const ToolContext& call : calls) {
        CollectingSink sink;
        ToolOutcome outcome = chain.wrap_tool(call, sink, [&](const ToolContext&, PartSink& out) {
            if (call.call_id == "c2") {
                out.push({.text = "short"});
                return ToolOutcome{};
            }
            for (int i = 0; i < 3'000; ++i) {
                const std::string line = "line " + std::to_string(i) + (i % 100 == 50 ? ' ' + hidden : "") + "\n";
                out.write(line.substr(0, line.size() / 2));
                out.write(line.substr(line.size() / 2));
            }
            return ToolOutcome{};
        });
        returns.push_back(collect_tool_return(call, sink, std::move(outcome)));
    }
    c.push_tool_results(returns);
    check_hidden(*inner);
    REQUIRE(keys_below(*inner, "") == std::vector<std::string>{"conv/trunc/c1"});
    CHECK(store->masked_places("conv/trunc/c1") == 30);

    const Tool reader = read_offloaded_tool();
    const auto read = [&](const std::string& arguments, Language language = Language::english) {
        ToolContext context = calls[0];
        context.tool = "read_offloaded";
        context.arguments = arguments;
        context.language = language;
        CollectingSink sink;
        CHECK_FALSE(reader.invoke(context, sink).is_error);
        std::string text;
        for (const Part& part : sink.take()) text += part.text;
        return text;
    };
    const std::string note = "\n[30 places of it were masked before it was stored: this is not the original]";
    const std::string page = read(R"({"reference":"conv/trunc/c1","first_line":51,"lines":1})");
    CHECK(page.starts_with("line 50 ***\n[lines 51 to 51, "));
    CHECK(page.ends_with(note));
    CHECK(read(R"({"reference":"conv/trunc/c1","grep":"***"})").ends_with(note));
    CHECK(read(R"({"reference":"conv/trunc/c1"})", Language::chinese).ends_with("\n[存储前已遮盖 30 处，非原文]"));

    REQUIRE(c.undo());  // the whole text was never here: what comes back is what the store has
    CHECK(text_of(c.messages()[2], 0).find("line 50 ***\nline 51\n") != std::string::npos);
}

TEST_CASE("a durable conversation over masks is saved and resumed without the secret, on every message type",
          "[redaction]") {
    for_each_message_type([&](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (HasCodec<M>) {
            CAPTURE(Builder<M>::name);
            const auto inner = memory_storage();
            const auto store = redacted_storage(inner);
            const Chain<M> chain(ChainConfig{.storage = store}, Reduction<M>{clearing()});
            std::vector<std::string> shown;
            {
                auto durable = DurableConversation<M>::open(store, "conv", {.writer = "one"});
                for (int i = 1; i <= 12; ++i) {
                    push_rounds(*durable, i, 1);
                    chain.before_model(*durable);
                    durable->notes("host").set("last", "key " + hidden);
                    durable->mark(0, {.origin = Origin::attachment, .by = "host", .retained_facts = "fact: " + hidden});
                    durable.save();
                    if (i == 6) durable.compact_log();
                }
                auto branch = durable.fork("branch");
                branch->push_back(message_traits<M>::make(Role::user, "in the branch " + hidden));
                branch.save();
                branch.compact_log();
                CHECK(branch.snapshot_error().empty());
                branch.release();
                shown = bytes_of(*durable);
                CHECK(shown[0].find(hidden_core) != std::string::npos);  // in memory it is as it was
                durable.release();
            }
            check_hidden(*inner);
            const auto branch = read_durable<M>(store, "branch");
            CHECK(branch.size() == shown.size() + 1);
            auto resumed = DurableConversation<M>::open(store, "conv", {.writer = "two"});
            REQUIRE(resumed->size() == shown.size());
            const auto masked = bytes_of(*resumed);
            for (std::size_t i = 0; i < shown.size(); ++i)
                CHECK(masked[i] == store->masked(shown[i]).value_or(shown[i]));
            push_rounds(*resumed, 13, 6);
            chain.before_model(*resumed);
            resumed.save();
            resumed.compact_log();
            const std::size_t entries = resumed->journal().size();
            std::size_t undone = 0;
            while (resumed->undo()) ++undone;
            CHECK(undone == entries);
            CHECK(undone > 0);
            resumed.save();
            check_hidden(*inner);
            CHECK(bytes_of(read_durable<M>(store, "conv"))[0] == masked[0]);
        }
    });
}

TEST_CASE("generated conversations over masks are the masked ones when they are loaded", "[redaction]") {
    for_each_message_type([&](auto type) {
        using M = typename decltype(type)::type;
        if constexpr (HasCodec<M>) {
            for (std::uint64_t seed = 1; seed <= 40; seed += every(8)) {
                INFO(Builder<M>::name << ", history " << seed);
                const auto inner = memory_storage();
                const auto store = redacted_storage(inner);
                const Chain<M> chain(ChainConfig{.storage = store},
                                     Reduction<M>{{.max_tokens_for_clear = 300, .clear_target_tokens = 100}});
                auto durable =
                    DurableConversation<M>::open(store, "conv", {.writer = "one", .snapshot_after_bytes = 20'000});
                for (const M& m : build_all<M>(generate_history(seed, {}))) {
                    durable->push_back(m);
                    if (durable->size() % 3 == 0) push(*durable, ChatMessage::user("note " + hidden));
                    chain.before_model(*durable);
                    durable.save();
                }
                CHECK(durable.snapshot_error().empty());
                check_hidden(*inner);
                const auto read = read_durable<M>(store, "conv");
                const auto now = bytes_of(*durable);
                REQUIRE(read.size() == now.size());
                for (std::size_t i = 0; i < now.size(); ++i)
                    CHECK(message_traits<M>::to_bytes(read.messages()[i]) == store->masked(now[i]).value_or(now[i]));
            }
        }
    });
}

TEST_CASE("media that are fetched say that something beside them was masked", "[redaction]") {
    const auto inner = memory_storage();
    const auto store = redacted_storage(inner);
    const std::string image = std::string("PNG\0\xFF", 5) + std::string(1'000, 'x');
    ToolContext context;
    context.tool = "fetch_media";
    context.conversation_id = "conv";
    context.storage = store;
    const auto objects = std::make_shared<StoredObjects>("conv");
    context.objects = objects;
    store->put_if_absent(
        "conv/m", offload_content(std::vector<Part>{
                      {.text = hidden}, {.kind = PartKind::media, .media = {.mime = "image/png", .bytes = image}}}));
    objects->add("conv/m", store);
    context.arguments = R"({"reference":"ref://conv/m"})";
    CollectingSink sink;
    CHECK_FALSE(fetch_media_tool().invoke(context, sink).is_error);
    const std::vector<Part> parts = sink.take();
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].text == "ref://conv/m [1 place of it was masked before it was stored: this is not the original]");
    CHECK(parts[1].media.bytes == image);
    check_hidden(*inner);
}
