// Results that are images alone, as a browser's screenshots: an adapter shows an empty part behind such an image, which
// stands for the missing text and goes once text stands in the image's place.
#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/whittle.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;

namespace {

const ordered_json anthropic_image =
    ordered_json::parse(R"([{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}])");
const ordered_json openai_image =
    ordered_json::parse(R"([{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}])");

/// `content`: a character for each result, 'i' an image alone, any other a text of 4,000 of it.
std::string text_of_result(char kind) { return std::string(4'000, kind); }

template <AgentMessage M>
void push(Conversation<M>& c, ordered_json message) {
    c.push_back(M(std::move(message)));
}

/// An old round of several results in one message, and a newer one.
Conversation<anthropic::Message> anthropic_rounds(const std::string& content) {
    Conversation<anthropic::Message> c("conv");
    push(c, ordered_json{{"role", "user"}, {"content", "go"}});
    ordered_json calls = ordered_json::array();
    ordered_json results = ordered_json::array();
    for (std::size_t i = 0; i < content.size(); ++i) {
        const std::string id = "call_" + std::to_string(i);
        const ordered_json input{{"why", std::string(200, 'w')}};
        calls.push_back({{"type", "tool_use"}, {"id", id}, {"name", "tool_" + std::to_string(i)}, {"input", input}});
        const ordered_json inside = content[i] == 'i' ? anthropic_image : ordered_json(text_of_result(content[i]));
        results.push_back({{"type", "tool_result"}, {"tool_use_id", id}, {"content", inside}});
    }
    push(c, ordered_json{{"role", "assistant"}, {"content", calls}});
    push(c, ordered_json{{"role", "user"}, {"content", results}});
    push(c, ordered_json::parse(
                R"({"role":"assistant","content":[{"type":"tool_use","id":"new","name":"ls","input":{}}]})"));
    push(c, ordered_json::parse(
                R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"new","content":"x"}]})"));
    return c;
}

/// A round with a message for each result.
Conversation<openai::Message> openai_rounds(const std::string& content) {
    Conversation<openai::Message> c("conv");
    push(c, ordered_json{{"role", "user"}, {"content", "go"}});
    ordered_json calls = ordered_json::array();
    for (std::size_t i = 0; i < content.size(); ++i) {
        const ordered_json function{{"name", "tool_" + std::to_string(i)},
                                    {"arguments", R"({"why":")" + std::string(200, 'w') + R"("})"}};
        calls.push_back({{"id", "call_" + std::to_string(i)}, {"type", "function"}, {"function", function}});
    }
    push(c, ordered_json{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", calls}});
    for (std::size_t i = 0; i < content.size(); ++i) {
        const ordered_json inside = content[i] == 'i' ? openai_image : ordered_json(text_of_result(content[i]));
        push(c, ordered_json{{"role", "tool"}, {"tool_call_id", "call_" + std::to_string(i)}, {"content", inside}});
    }
    push(
        c,
        ordered_json::parse(
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"new","type":"function","function":{"name":"ls","arguments":"{}"}}]})"));
    push(c, ordered_json::parse(R"({"role":"tool","tool_call_id":"new","content":"x"})"));
    return c;
}

template <AgentMessage M>
Conversation<M> rounds(const std::string& content) {
    if constexpr (std::same_as<M, anthropic::Message>)
        return anthropic_rounds(content);
    else
        return openai_rounds(content);
}

template <AgentMessage M>
std::vector<std::string> bytes_of_all(const Conversation<M>& c) {
    std::vector<std::string> all;
    for (const M& m : c.messages()) all.push_back(message_traits<M>::to_bytes(m));
    return all;
}

std::map<std::string, std::string> objects_in(Storage& storage) {
    std::map<std::string, std::string> objects;
    storage.list("", [&](const ObjectInfo& info) {
        objects[info.key] = storage.get(info.key).value();
        return true;
    });
    return objects;
}

/// What the round shows of each old result, its texts joined; nothing may be left of the original texts or of an image.
/// The outline must know each part by its own call.
template <AgentMessage M>
std::map<std::string, std::string> shown_results(const Conversation<M>& c, std::size_t calls) {
    std::map<std::string, std::string> shown;
    for (std::size_t m = 2; m + 2 < c.size(); ++m) {
        std::size_t p = 0;
        message_traits<M>::for_each_part(c.messages()[m], [&](const PartView& part) {
            const PartInfo& info = c.outline()[m].parts[p++];
            const std::string id(part.call_id);
            INFO("message " << m << " part " << p - 1 << ": " << part.text.substr(0, 100));
            CHECK(part.kind == PartKind::tool_result);
            CHECK(info.call_id == id);
            CHECK(info.key_safe_call_id == id);
            CHECK(info.tool == "tool_" + id.substr(id.find('_') + 1));
            CHECK(origin_of(mark_of(c.outline()[m], p - 1)) == Origin::placeholder);
            CHECK(part.text.size() < 400);
            shown[id] += part.text;
        });
    }
    CHECK(shown.size() == calls);
    return shown;
}

const std::vector<std::string> contents{"i", "ibc", "aic", "abi", "iib", "iii", "bii"};

ReductionConfig clear_all() {
    ReductionConfig config;
    config.skip_truncation = true;
    config.max_tokens_for_clear = 10;
    return config;
}

ChainConfig storing_in(const std::shared_ptr<Storage>& storage) {
    ChainConfig config;
    config.storage = storage;
    return config;
}

/// Each result is stored under its own name and said to be of its own tool.
void check_stored(const std::map<std::string, std::string>& shown, const std::map<std::string, std::string>& objects,
                  const std::string& content, const std::string& folder) {
    for (std::size_t i = 0; i < content.size(); ++i) {
        const std::string id = "call_" + std::to_string(i);
        const std::string key = folder + id;
        INFO(content << ": " << key);
        REQUIRE(objects.contains(key));
        if (content[i] == 'i') {
            CHECK(objects.at(key).find("AAAA") != std::string::npos);
        } else {
            CHECK(objects.at(key) == text_of_result(content[i]));
        }
        REQUIRE(shown.contains(id));
        CHECK(shown.at(id).find(key) != std::string::npos);
        CHECK(shown.at(id).find("tool_" + std::to_string(i)) != std::string::npos);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("results that are images alone are cleared, each under its own name", "[image_results]",
                   anthropic::Message, openai::Message) {
    const bool clear_inputs = GENERATE(false, true);
    const bool has_own_key = GENERATE(false, true);
    for (const std::string& content : contents) {
        INFO(content << " inputs " << clear_inputs << " own key " << has_own_key);
        Conversation<TestType> c = rounds<TestType>(content);
        const auto before = bytes_of_all(c);
        const auto storage = memory_storage();
        ReductionConfig config = clear_all();
        config.clear_tool_inputs = clear_inputs;
        ReductionCallbacks<TestType> callbacks;
        if (has_own_key) {
            callbacks.gen_clear_offload_file_path = [](const ToolDetail& detail) {
                return "own/" + std::string(detail.tool) + "/" + std::string(detail.call_id);
            };
        }
        const Chain chain{storing_in(storage), Reduction<TestType>{config, callbacks}};
        const Report& report = chain.before_model(c);
        CHECK(report.stages.back().outcome == Outcome::committed);
        const auto shown = shown_results(c, content.size());
        const auto objects = objects_in(*storage);
        if (has_own_key) {
            for (std::size_t i = 0; i < content.size(); ++i)
                CHECK(objects.contains("own/tool_" + std::to_string(i) + "/call_" + std::to_string(i)));
        } else {
            check_stored(shown, objects, content, "conv/clear/");
        }
        const auto after = bytes_of_all(c);
        chain.before_model(c);
        CHECK(bytes_of_all(c) == after);
        while (c.undo()) {
        }
        CHECK(bytes_of_all(c) == before);
    }
}

TEMPLATE_TEST_CASE("a handler may put text in place of an image, and later results are still found", "[image_results]",
                   anthropic::Message, openai::Message) {
    const bool keeps_number = GENERATE(false, true);
    for (const std::string& content : contents) {
        INFO(content << " keeps the number of parts " << keeps_number);
        Conversation<TestType> c = rounds<TestType>(content);
        const auto storage = memory_storage();
        ReductionCallbacks<TestType> callbacks;
        callbacks.tool_config["tool_0"].clear_handler = [&](const ToolDetail& detail) {
            ClearResult result{.need_clear = true};
            for (const Part& part : detail.result_parts) {
                const bool is_empty = part.kind != PartKind::media && part.text.empty();
                if (keeps_number || result.replacement_parts.empty())
                    result.replacement_parts.push_back(
                        is_empty
                            ? part
                            : Part{.kind = part.kind == PartKind::media ? PartKind::text : part.kind, .text = "gone"});
            }
            return result;
        };
        const Chain chain{storing_in(storage), Reduction<TestType>{clear_all(), callbacks}};
        const Report& report = chain.before_model(c);
        CHECK(report.stages.back().outcome == Outcome::committed);
        const auto shown = shown_results(c, content.size());
        CHECK(shown.at("call_0") == "gone");
        const auto objects = objects_in(*storage);
        for (std::size_t i = 1; i < content.size(); ++i)
            CHECK(objects.contains("conv/clear/call_" + std::to_string(i)));
    }
}

TEMPLATE_TEST_CASE("results that are images alone are pruned, each under its own name", "[image_results]",
                   anthropic::Message, openai::Message) {
    for (const std::string& content : contents) {
        INFO(content);
        Conversation<TestType> c = rounds<TestType>(content);
        c.push_back(rounds<TestType>("a").messages()[0]);
        const auto before = bytes_of_all(c);
        const auto storage = memory_storage();
        PruningConfig config;
        config.skip_boundary_turns = 0;
        const Chain chain{storing_in(storage), Pruning<TestType>{config}};
        chain.before_model(c);
        for (std::size_t m = 2; m < c.size(); ++m) {
            std::size_t p = 0;
            message_traits<TestType>::for_each_part(c.messages()[m], [&](const PartView& part) {
                const PartInfo& info = c.outline()[m].parts[p++];
                CHECK(part.kind != PartKind::media);
                CHECK(info.call_id == part.call_id);
                CHECK(part.text.size() < 400);
            });
        }
        while (c.undo()) {
        }
        CHECK(bytes_of_all(c) == before);
    }
}

TEST_CASE("repair writes a sentence for images alone, and the other results keep their names and marks",
          "[image_results]") {
    Conversation<anthropic::Message> c = anthropic_rounds("iaiib");
    REQUIRE(c.repair(openai_compatible()).committed());
    std::size_t results = 0;
    std::size_t repaired = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
        for (const PartInfo& part : c.outline()[i].parts) {
            if (part.kind != PartKind::tool_result) continue;
            ++results;
            CHECK(part.text_bytes > 0);
            CHECK(part.key_safe_call_id == part.call_id);
            if (part.mark && part.mark->origin == Origin::repair) {
                ++repaired;
                CHECK(part.text_bytes < 4'000);
            }
        }
    }
    CHECK(results == 6);
    CHECK(repaired == 3);
    REQUIRE(c.undo());
    CHECK(c.outline()[2].parts.size() == 8);
}

TEST_CASE("repair takes out a stray result with its image, also of a message that the host marked as repaired",
          "[image_results]") {
    Conversation<anthropic::Message> c("conv");
    push(c, ordered_json{{"role", "user"}, {"content", "go"}});
    push(c, ordered_json::parse(
                R"({"role":"assistant","content":[{"type":"tool_use","id":"b","name":"ls","input":{}}]})"));
    ordered_json stray = anthropic_image;
    stray.insert(stray.begin(), ordered_json{{"type", "text"}, {"text", "old"}});
    push(c, ordered_json{{"role", "user"},
                         {"content",
                          {{{"type", "tool_result"}, {"tool_use_id", "x"}, {"content", stray}},
                           {{"type", "tool_result"}, {"tool_use_id", "b"}, {"content", "ok"}}}}});
    c.mark(2, {.origin = Origin::repair});
    REQUIRE(c.repair(openai_compatible()).committed());
    REQUIRE(c.outline()[2].parts.size() == 1);
    CHECK(c.outline()[2].parts[0].call_id == "b");
    CHECK(text_of(c.messages()[2], 0) == "ok");
}
