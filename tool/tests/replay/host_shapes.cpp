#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"

#include "replay/replay.hpp"
#include "support/catch.hpp"
#include "whittle/base/random.hpp"
#include "whittle/reduction/reduction.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;

namespace {

std::string long_text(char c, std::size_t bytes = 3'000) { return "first " + std::string(bytes, c) + " last"; }

/// TEXT and MORE stand for long texts.
std::string filled(std::string shape) {
    const auto put = [&](std::string_view name, const std::string& text) {
        for (std::size_t at = shape.find(name); at != std::string::npos; at = shape.find(name, at + text.size()))
            shape.replace(at, name.size(), text);
    };
    put("TEXT", long_text('x'));
    put("MORE", long_text('y', 2'000));
    return shape;
}

template <typename M>
struct Shape {
    std::string name{};
    std::vector<std::string> results{};  ///< messages that answer the calls "a" and "b"
};

const std::vector<Shape<openai::Message>>& openai_shapes() {
    static const std::vector<Shape<openai::Message>> shapes{
        {"as the API documents it, without a name",
         {R"({"role":"tool","tool_call_id":"a","content":"TEXT"})",
          R"({"role":"tool","tool_call_id":"b","content":"ok"})"}},
        {"content first",
         {R"({"content":"TEXT","tool_call_id":"a","role":"tool"})",
          R"({"content":"MORE","tool_call_id":"b","role":"tool"})"}},
        {"with a name in front", {R"({"name":"read","role":"tool","content":"TEXT","tool_call_id":"a"})"}},
        {"text in an array", {R"({"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"TEXT"}]})"}},
        {"several texts in an array, one with members of its own",
         {R"({"role":"tool","tool_call_id":"a","content":[{"text":"TEXT","type":"text","x":[1.0,null]},{"type":"text","text":"short"},{"type":"text","text":"MORE"}]})"}},
        {"an image between texts",
         {R"({"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"TEXT"},{"type":"image_url","image_url":{"url":"https://example.org/a.png","detail":"low"}},{"type":"text","text":"MORE"}]})"}},
        {"with a cache breakpoint and members of a vendor",
         {R"({"cache_control":{"type":"ephemeral"},"role":"tool","tool_call_id":"a","vendor":{"z":1,"a":[2.50]},"content":"TEXT","id":null})"}},
        {"an item that nobody knows",
         {R"({"role":"tool","tool_call_id":"a","content":[{"type":"odd","value":7},{"type":"text","text":"TEXT"}]})"}},
        {"empty, null and no content",
         {R"({"role":"tool","tool_call_id":"a","content":""})",
          R"({"role":"tool","content":null,"tool_call_id":"b"})"}},
        {"an answer that nobody waits for",
         {R"({"role":"tool","content":"TEXT","tool_call_id":"stranger"})",
          R"({"role":"tool","tool_call_id":"b","content":"MORE"})"}},
    };
    return shapes;
}

const std::vector<Shape<anthropic::Message>>& anthropic_shapes() {
    static const std::vector<Shape<anthropic::Message>> shapes{
        {"a string, and not an error",
         {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"TEXT","is_error":false}]})"}},
        {"text in an array, with a cache breakpoint inside and outside",
         {R"({"role":"user","content":[{"tool_use_id":"a","type":"tool_result","content":[{"type":"text","text":"TEXT","cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral","ttl":"1h"}}]})"}},
        {"two results and a reminder beside them",
         {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"TEXT"},{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"MORE"}]},{"type":"text","text":"<reminder>be brief</reminder>"}]})"}},
        {"a reminder in front, members in another order",
         {R"({"content":[{"text":"look:","type":"text"},{"content":"TEXT","tool_use_id":"b","type":"tool_result"}],"role":"user"})"}},
        {"an image in the result and one beside it",
         {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},{"type":"text","text":"TEXT"}]},{"type":"image","source":{"type":"url","url":"https://example.org/b.png"}}]})"}},
        {"failed",
         {R"({"role":"user","content":[{"type":"tool_result","is_error":true,"tool_use_id":"a","content":"TEXT"}],"uuid":"7"})"}},
        {"each result in a message of its own",
         {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"TEXT"}]})",
          R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"MORE"}]})"}},
        {"empty, missing and null content",
         {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","content":[]}]})"}},
        {"one of a stranger beside ours",
         {R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"stranger","content":"TEXT"},{"type":"tool_result","tool_use_id":"a","content":"MORE"}]})"}},
    };
    return shapes;
}

std::vector<openai::Message> recording_of(const Shape<openai::Message>& shape) {
    std::vector<openai::Message> messages{
        openai::Message::parse(R"({"content":"go","role":"user"})"),
        openai::Message::parse(
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]})")};
    for (const std::string& result : shape.results) messages.push_back(openai::Message::parse(filled(result)));
    messages.push_back(openai::Message::parse(R"({"role":"assistant","content":"done"})"));
    return messages;
}

std::vector<anthropic::Message> recording_of(const Shape<anthropic::Message>& shape) {
    std::vector<anthropic::Message> messages{
        anthropic::Message::parse(R"({"role":"user","content":"go"})"),
        anthropic::Message::parse(
            R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b","name":"read","input":{}}]})")};
    for (const std::string& result : shape.results) messages.push_back(anthropic::Message::parse(filled(result)));
    messages.push_back(anthropic::Message::parse(R"({"role":"assistant","content":"done"})"));
    return messages;
}

template <typename M>
std::vector<std::string> dumps(std::span<const M> messages) {
    std::vector<std::string> all;
    for (const M& m : messages) all.push_back(m.json().dump());
    return all;
}

/// Where two values differ in more than that a text became shorter; empty if nowhere. Members and their order count.
std::string unexpected_difference(const ordered_json& recorded, const ordered_json& shown) {
    const ordered_json a = recorded.flatten();
    const ordered_json b = shown.flatten();
    auto other = b.items().begin();
    if (a.size() != b.size()) return "other members: " + shown.dump().substr(0, 300);
    for (const auto& [path, value] : a.items()) {
        if (path != other.key()) return "other member or order: " + path + " and " + other.key();
        const bool is_shortened =
            value.is_string() && other.value().is_string() && path.find("content") != path.npos &&
            other.value().get_ref<const std::string&>().size() < value.get_ref<const std::string&>().size();
        if (!is_shortened && value.dump() != other.value().dump()) return "another value: " + path;
        ++other;
    }
    return {};
}

struct Checked {
    std::vector<std::string> differences{};
    std::vector<std::string> undone{};
    int shortened = 0;
    ReplayTotals totals{};
};

/// Replays, looks at what was shown, and undoes a copy.
template <typename M>
Checked check(const std::vector<M>& recorded, const Chain<M>& chain) {
    Checked checked;
    ReplayOptions<M> options;
    options.on_end = [&](const Conversation<M>& conversation) {
        for (std::size_t i = 0; i < conversation.size() && conversation.size() == recorded.size(); ++i) {
            const M& shown = conversation.messages()[i];
            if (shown == recorded[i]) continue;
            ++checked.shortened;
            if (auto text = unexpected_difference(recorded[i].json(), shown.json()); !text.empty())
                checked.differences.push_back(std::move(text));
        }
        if (conversation.size() != recorded.size()) checked.differences.push_back("another number of messages");
        Conversation<M> copy = conversation.fork("copy");
        while (copy.undo()) continue;
        checked.undone = dumps(copy.messages());
    };
    checked.totals = replay<M>({.id = "shapes", .messages = recorded}, chain, options);
    return checked;
}

template <typename M>
Chain<M> reducing(std::shared_ptr<Storage> storage, std::int64_t bytes, std::int64_t clear_above) {
    ChainConfig config;
    config.storage = std::move(storage);
    return Chain<M>{std::move(config),
                    Reduction<M>{{.max_length_for_trunc = bytes, .max_tokens_for_clear = clear_above}}};
}

/// Takes nothing: originals have to stay in the journal.
std::shared_ptr<Storage> full_store() { return memory_storage({.max_bytes = 1}); }

template <typename M>
Chain<M> truncating(std::shared_ptr<Storage> storage) {
    return reducing<M>(std::move(storage), 1'000, 1 << 30);
}

template <typename M>
void check_shapes(const std::vector<Shape<M>>& shapes) {
    for (const bool with_store : {true, false}) {
        for (const Shape<M>& shape : shapes) {
            CAPTURE(shape.name, with_store);
            const std::vector<M> recorded = recording_of(shape);
            const Checked checked = check(recorded, truncating<M>(with_store ? memory_storage() : full_store()));
            CHECK(checked.differences.empty());
            CHECK(checked.undone == dumps(std::span<const M>(recorded)));
            CHECK(checked.totals.not_undone == 0);
            CHECK(checked.totals.restorable() == 1.0);
            CHECK(checked.totals.violations.empty());
            CHECK((checked.shortened > 0 || !with_store || shape.name.starts_with("empty")));
        }
    }
}

}  // namespace

TEST_CASE("tool messages of OpenAI keep members and order in a replay, and are undone byte for byte", "[replay]") {
    check_shapes(openai_shapes());
}

TEST_CASE("tool results of Anthropic keep members and order in a replay, and are undone byte for byte", "[replay]") {
    check_shapes(anthropic_shapes());
}

TEST_CASE("what stands beside results stays in their message when one is shortened", "[replay]") {
    const auto recorded = recording_of(anthropic_shapes()[2]);
    std::vector<anthropic::Message> sent;
    ReplayOptions<anthropic::Message> options;
    options.on_request = [&](const auto& request) { sent.assign(request.messages.begin(), request.messages.end()); };
    (void)replay<anthropic::Message>({.id = "s", .messages = recorded},
                                     truncating<anthropic::Message>(memory_storage()), options);
    REQUIRE(sent.size() == 3);
    const ordered_json& content = sent[2].json()["content"];
    REQUIRE(content.size() == 3);
    CHECK(content[0]["content"].get_ref<const std::string&>().size() < 1'500);
    CHECK(content[1]["content"][0]["text"].get_ref<const std::string&>().size() < 1'500);
    CHECK(content[2] == recorded[2].json()["content"][2]);
}

TEST_CASE("a message that a store holds too leaves memory, and comes back byte for byte", "[replay]") {
    const auto recorded = recording_of(openai_shapes()[4]);
    ReplayOptions<openai::Message> options;
    std::size_t in_memory = 0;
    options.on_end = [&](const Conversation<openai::Message>& conversation) {
        REQUIRE(conversation.journal().size() == 1);
        in_memory = conversation.journal().front()->undo.front().messages.front().json().dump().size();
    };
    const ReplayTotals totals = replay<openai::Message>({.id = "s", .messages = recorded},
                                                        truncating<openai::Message>(memory_storage()), options);
    CHECK(in_memory < 3'000);
    CHECK(totals.not_undone == 0);
    CHECK(totals.bytes_stored > 5'000);
}

namespace {

class RandomRecording {
public:
    explicit RandomRecording(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_.next() % n); }
    bool one_in(std::size_t n) { return below(n) == 0; }

    std::vector<openai::Message> openai() {
        std::vector<openai::Message> messages;
        for (std::size_t turns = 1 + below(3); turns > 0; --turns) {
            messages.emplace_back(shuffled({{"role", "user"}, {"content", text(40)}}));
            for (std::size_t rounds = below(4); rounds > 0; --rounds) {
                ordered_json reply{{"role", "assistant"}, {"content", nullptr}};
                std::vector<openai::Message> results;
                for (std::size_t calls = 1 + below(3); calls > 0; --calls) {
                    const std::string id = next_id();
                    reply["tool_calls"].push_back(shuffled(
                        {{"id", id}, {"type", "function"}, {"function", {{"name", "read"}, {"arguments", "{}"}}}}));
                    if (one_in(12)) continue;  // never answered
                    results.emplace_back(openai_result(id));
                }
                messages.emplace_back(shuffled(std::move(reply)));
                messages.insert(messages.end(), results.begin(), results.end());
                if (one_in(8)) messages.emplace_back(shuffled({{"role", "user"}, {"content", "wait"}}));
            }
            messages.emplace_back(shuffled({{"role", "assistant"}, {"content", text(200)}}));
        }
        return messages;
    }

    std::vector<anthropic::Message> anthropic() {
        std::vector<anthropic::Message> messages;
        for (std::size_t turns = 1 + below(3); turns > 0; --turns) {
            messages.emplace_back(shuffled({{"role", "user"}, {"content", text(40)}}));
            for (std::size_t rounds = below(4); rounds > 0; --rounds) {
                ordered_json calls = ordered_json::array();
                ordered_json blocks = ordered_json::array();
                if (one_in(5)) blocks.push_back(shuffled({{"type", "text"}, {"text", "beside " + text(80)}}));
                for (std::size_t n = 1 + below(3); n > 0; --n) {
                    const std::string id = next_id();
                    calls.push_back(shuffled(
                        {{"type", "tool_use"}, {"id", id}, {"name", "read"}, {"input", ordered_json::object()}}));
                    if (!one_in(12)) blocks.push_back(anthropic_result(id));
                    if (one_in(6)) blocks.push_back(image());
                }
                if (one_in(3)) blocks.push_back(shuffled({{"type", "text"}, {"text", "beside " + text(2'000)}}));
                messages.emplace_back(shuffled({{"role", "assistant"}, {"content", calls}}));
                if (!blocks.empty()) messages.emplace_back(shuffled({{"role", "user"}, {"content", blocks}}));
            }
            messages.emplace_back(shuffled({{"role", "assistant"}, {"content", text(200)}}));
        }
        return messages;
    }

private:
    /// Repeated ids now and then, and empty ones.
    std::string next_id() {
        if (one_in(15)) return "";
        if (one_in(10)) return "again";
        return "call_" + std::to_string(++ids_);
    }

    std::string text(std::size_t most) {
        static const std::vector<std::string> words{"alpha ", "\n", "漢字", "\"q\" ", "\\ ", "\t", "<tag> ", "é", "x"};
        std::string text;
        for (const std::size_t size = below(most + 1); text.size() < size;) text += words[below(words.size())];
        return text;
    }
    std::string result_text() { return text(one_in(2) ? 4'000 : 100); }

    ordered_json image() {
        return shuffled({{"type", "image"}, {"source", {{"type", "url"}, {"url", "https://example.org/a.png"}}}});
    }

    /// The members in another order, and some that nobody knows.
    ordered_json shuffled(ordered_json json) {
        if (one_in(3)) json["x_unknown"] = {1.0, nullptr, {{"k", "v"}}};
        if (one_in(4)) json["cache_control"] = {{"type", "ephemeral"}};
        std::vector<std::pair<std::string, ordered_json>> members;
        for (auto& [key, value] : json.items()) members.emplace_back(key, value);
        for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[below(i)]);
        ordered_json mixed = ordered_json::object();
        for (auto& [key, value] : members) mixed[key] = std::move(value);
        return mixed;
    }

    ordered_json items(const std::function<ordered_json()>& media) {
        ordered_json items = ordered_json::array();
        for (std::size_t n = below(4); n > 0; --n) {
            if (one_in(4)) {
                items.push_back(media());
            } else if (one_in(8)) {
                items.push_back(shuffled({{"type", "odd"}}));
            } else {
                items.push_back(shuffled({{"type", "text"}, {"text", result_text()}}));
            }
        }
        return items;
    }

    ordered_json openai_result(const std::string& id) {
        ordered_json json{{"role", "tool"}, {"tool_call_id", one_in(15) ? "stranger" : id}};
        const auto link = [this] {
            return shuffled({{"type", "image_url"}, {"image_url", {{"url", "https://example.org/a.png"}}}});
        };
        if (one_in(20)) {
            json["content"] = nullptr;
        } else if (one_in(3)) {
            json["content"] = items(link);
        } else {
            json["content"] = result_text();
        }
        if (one_in(2)) json["name"] = "read";
        return shuffled(std::move(json));
    }

    ordered_json anthropic_result(const std::string& id) {
        ordered_json json{{"type", "tool_result"}, {"tool_use_id", one_in(15) ? "stranger" : id}};
        if (one_in(2)) {
            json["content"] = result_text();
        } else if (!one_in(10)) {
            json["content"] = items([this] { return image(); });
        }
        if (one_in(3)) json["is_error"] = one_in(2);
        return shuffled(std::move(json));
    }

    SeededRandom random_;
    int ids_ = 0;
};

template <typename M>
Chain<M> random_chain(RandomRecording& random, bool clears) {
    const std::shared_ptr<Storage> storage = random.one_in(3) ? full_store() : memory_storage();
    const auto limit = static_cast<std::int64_t>(300 + random.below(1'500));
    const std::int64_t clear = clears ? static_cast<std::int64_t>(100 + random.below(900)) : 1 << 30;
    return reducing<M>(storage, limit, clear);
}

template <typename M>
std::vector<M> random_messages(RandomRecording& random) {
    if constexpr (std::same_as<M, openai::Message>) {
        return random.openai();
    } else {
        return random.anthropic();
    }
}

/// Undone, the conversation has the host's own bytes; under truncation, a message is the host's own or differs in texts
/// only.
template <typename M>
void compare_at_random(int runs) {
    int shortened = 0;
    for (int run = 0; run < runs; ++run) {
        RandomRecording random(static_cast<std::uint64_t>(run) + 1);
        const std::vector<M> recorded = random_messages<M>(random);
        const bool clears = random.one_in(3);  // placeholders stand in place of media, too
        const Chain<M> chain = random_chain<M>(random, clears);
        const Checked checked = check(recorded, chain);
        CAPTURE(run);
        if (!clears) REQUIRE(checked.differences == std::vector<std::string>{});
        REQUIRE(checked.undone == dumps(std::span<const M>(recorded)));
        REQUIRE(checked.totals.not_undone == 0);
        REQUIRE(checked.totals.restorable() == 1.0);
        REQUIRE((checked.totals.failed_hooks == 0 || checked.totals.failed_writes > 0));
        shortened += checked.shortened;
    }
    CHECK(shortened > runs / 2);
}

}  // namespace

TEST_CASE("random OpenAI recordings are undone to the host's own bytes", "[replay]") {
    compare_at_random<openai::Message>(400);
}

TEST_CASE("random Anthropic recordings are undone to the host's own bytes", "[replay]") {
    compare_at_random<anthropic::Message>(400);
}
