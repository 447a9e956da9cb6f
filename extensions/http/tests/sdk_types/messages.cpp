// Messages that our conversions and traits make.
#include "programs.hpp"
#include "shorten_texts.hpp"

#include "support/generators_messages.hpp"
#include "whittle/convert/convert.hpp"
#include "whittle/saved/trajectory.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace whittle::sdk_types {

namespace {

using nlohmann::ordered_json;
using OpenAI = std::vector<openai::Message>;
using Anthropic = std::vector<anthropic::Message>;

constexpr int sessions_of_a_file = 2;
constexpr std::size_t longest_text = 200;

/// Without the member that the generator adds to see that unknown ones stay.
OpenAI to_messages(const testing::History& history) {
    OpenAI messages;
    for (const ChatMessage& neutral : history) {
        for (const openai::Message& m : testing::Builder<openai::Message>::build(neutral)) {
            ordered_json json = m.json();
            json.erase("x_unknown");
            if (!json.contains("content")) json["content"] = nullptr;
            messages.emplace_back(std::move(json));
        }
    }
    return messages;
}

/// A call each: one list of all would be "too complex" for the checker.
template <typename M>
void append(std::string& to, const std::vector<M>& messages) {
    for (const M& m : messages) {
        ordered_json json = m.json();
        shorten_texts(json, longest_text);
        to += "take(" + json.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + ");\n";
    }
}

struct Programs {
    std::string openai{};
    std::string anthropic{};

    /// There and back: both are what our code wrote. OpenAI's types know no name of a tool in its result.
    void add(const OpenAI& history) {
        const AnthropicConversion there = to_anthropic(history);
        append(anthropic, there.messages);
        add(there.system, there.messages);
    }
    void add(const ordered_json& system, const Anthropic& history) {
        append(openai, to_openai(system, history, {.tool_names = false}).messages);
    }
};

// The smallest PNG that the conversions know as one.
const std::string png =
    "data:image/"
    "png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Every kind of content that has a place in OpenAI's messages.
OpenAI openai_kinds() {
    OpenAI messages;
    for (const std::string& text : std::vector<std::string>{
             R"({"role":"developer","content":"be brief"})",
             R"({"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})",
             R"({"role":"user","name":"ann","content":[{"type":"text","text":"see"},
                 {"type":"image_url","image_url":{"url":"https://example.org/a.png","detail":"low"}},
                 {"type":"image_url","image_url":{"url":")" +
                 png + R"("}},
                 {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}},
                 {"type":"file","file":{"file_id":"file-1"}},
                 {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}}]})",
             R"({"role":"assistant","content":"I look","reasoning_content":"hm","tool_calls":[
                 {"id":"c 1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"}},
                 {"id":"c2","type":"function","function":{"name":"read","arguments":"no object"}}]})",
             R"({"role":"tool","tool_call_id":"c 1","content":"one"})",
             R"({"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"two"}]})",
             R"({"role":"assistant","content":null,"refusal":"I will not"})"})
        messages.push_back(openai::Message::parse(text));
    return messages;
}

/// Every kind of block.
Anthropic anthropic_kinds() {
    Anthropic messages;
    for (const char* text : {
             R"({"role":"user","content":[{"type":"text","text":"see","cache_control":{"type":"ephemeral"}},
                 {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
                 {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQK"}},
                 {"type":"document","source":{"type":"text","media_type":"text/plain","data":"plain"},"title":"t"},
                 {"type":"document","source":{"type":"url","url":"https://example.org/a.pdf"}}]})",
             R"({"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S"},
                 {"type":"redacted_thinking","data":"D"},
                 {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},
                 {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},
                 {"type":"tool_use","id":"toolu_1","name":"look","input":{"at":1}},
                 {"type":"tool_use","id":"toolu_2","name":"look","input":{}},
                 {"type":"text","text":"behind"}]})",
             R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[
                     {"type":"text","text":"a"},
                     {"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}]},
                 {"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"failed"},
                 {"type":"text","text":"go on"}]})",
             R"({"role":"assistant","content":"done"})"})
        messages.push_back(anthropic::Message::parse(text));
    return messages;
}

Part media(const std::string& mime, const std::string& bytes) {
    Part part{.kind = PartKind::media};
    part.media = {.mime = mime, .bytes = bytes};
    return part;
}

Part text(const std::string& words) {
    Part part{.kind = PartKind::text};
    part.text = words;
    return part;
}

/// What tools may bring, nothing and media of every sort among it; without the tool's name, as above.
std::vector<ToolResult> tool_results() {
    return {{.call_id = "t1", .parts = {text("one")}},
            {.call_id = "t2", .parts = {text("a"), text("b")}},
            {.call_id = "t3"},
            {.call_id = "t4", .parts = {text("see"), media("image/png", "\x89PNG\r\n"), text("seen")}},
            {.call_id = "t5", .parts = {media("application/pdf", "%PDF-1.4\n")}},
            {.call_id = "t6", .parts = {media("audio/wav", "RIFF")}},
            {.call_id = "t7", .parts = {text("no"), media("image/png", "\x89PNG")}, .is_error = true}};
}

/// Texts set, parts erased, calls renamed: what edits leave, except messages that they empty, which callers drop.
template <AgentMessage M>
void append_edited(std::string& to, const std::vector<M>& messages) {
    using traits = message_traits<M>;
    for (const M& m : messages) {
        std::vector<PartKind> kinds;
        traits::for_each_part(m, [&](const PartView& part) { kinds.push_back(part.kind); });
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            M edited = m;
            if (kinds[i] == PartKind::text || kinds[i] == PartKind::tool_result || kinds[i] == PartKind::media)
                traits::set_text(edited, i, "cut");
            if (kinds[i] == PartKind::tool_call) traits::set_text(edited, i, R"({"cut": true})");
            if (kinds[i] == PartKind::tool_call || kinds[i] == PartKind::tool_result)
                traits::rename_call(edited, i, "new_id", {});
            append<M>(to, {edited});
            if (kinds.size() < 2) continue;
            traits::erase_part(edited, i);
            append<M>(to, {edited});
        }
    }
}

template <AgentMessage M>
void append_made(std::string& to) {
    using traits = message_traits<M>;
    append<M>(to, {traits::make(Role::user, "a"), traits::make(Role::assistant, "b")});
    append<M>(to, traits::make_tool_results(tool_results()));
}

void add_file(Programs& programs, const std::string& file) {
    int sessions = 0;
    read_trajectories(std::filesystem::path(file), {}, [&](Trajectory<>&& session) {
        programs.add(session.messages);
        return ++sessions < sessions_of_a_file;
    });
}

Programs all_programs(const std::vector<std::string>& files) {
    Programs programs;
    programs.add(openai_kinds());
    programs.add("be brief", anthropic_kinds());
    append_made<openai::Message>(programs.openai);
    append_made<anthropic::Message>(programs.anthropic);
    append_edited(programs.openai, to_openai("", anthropic_kinds(), {.tool_names = false}).messages);
    append_edited(programs.anthropic, anthropic_kinds());
    append_edited(programs.anthropic, to_anthropic(openai_kinds()).messages);
    for (std::uint64_t seed = 1; seed <= 100; ++seed)
        programs.add(to_messages(testing::generate_history(seed, {.turns = 3})));
    for (const std::string& file : files) add_file(programs, file);
    return programs;
}

std::string program(const std::string& type, const std::string& module, const std::string& calls) {
    return "import type { " + type + " } from \"" + module + "\";\nfunction take(_: " + type + ") {}\n" + calls;
}

}  // namespace

void print_messages(std::ostream& out, const std::vector<std::string>& files) {
    const Programs programs = all_programs(files);
    out << program("ChatCompletionMessageParam", "openai/resources/chat/completions", programs.openai) << "// ----\n"
        << program("MessageParam", "@anthropic-ai/sdk/resources/messages", programs.anthropic);
}

}  // namespace whittle::sdk_types
