#include <nlohmann/json.hpp>

#include <ai/types/generate_options.h>

#include "host_laws.hpp"
#include "host_mutants.hpp"
#include "whittle/host_conformance/conformance.hpp"
#include "whittle/hosts/ai_sdk_cpp.hpp"

#include <optional>
#include <string>
#include <utility>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// What a tool gave: JSON where the text is its canonical form, else a string.
ai::JsonValue result_value(const std::string& text) {
    ai::JsonValue value = ai::JsonValue::parse(text, nullptr, false);
    const bool is_json = !value.is_discarded() && !value.is_string() && value.dump() == text;
    return is_json ? value : ai::JsonValue(text);
}

std::optional<ai::Message> build(const ChatMessage& m, FieldValues&) {
    if (m.role == Role::tool) return std::nullopt;
    ai::Message built(m.role == Role::system      ? ai::kMessageRoleSystem
                      : m.role == Role::assistant ? ai::kMessageRoleAssistant
                                                  : ai::kMessageRoleUser,
                      {});
    for (const Part& part : m.parts) {
        if (part.kind == PartKind::text) {
            built.content.emplace_back(ai::TextContentPart(part.text));
        } else if (part.kind == PartKind::tool_result) {
            if (part.text == R"("{\"a\":1}")") return std::nullopt;  // written so, it is the string {"a":1}
            built.content.emplace_back(ai::ToolResultContentPart(part.call_id, result_value(part.text), part.is_error));
        } else if (part.kind == PartKind::tool_call) {
            ai::JsonValue arguments = ai::JsonValue::parse(part.text, nullptr, false);
            if (!arguments.is_object() || arguments.dump() != part.text) return std::nullopt;
            built.content.emplace_back(ai::ToolCallContentPart(part.call_id, part.tool, std::move(arguments)));
        } else {
            return std::nullopt;
        }
    }
    return built;
}

/// Every member; JSON with its type, so that a string is not taken for what it says.
std::string dump(const ai::Message& m) {
    std::string text = m.roleToString();
    const auto add = [&](const std::string& value) { text += '|' + std::to_string(value.size()) + ':' + value; };
    const auto add_json = [&](const ai::JsonValue& value) {
        add(value.type_name());
        add(value.is_string() ? value.get<std::string>() : value.dump());
    };
    for (const ai::ContentPart& part : m.content) {
        if (const auto* said = std::get_if<ai::TextContentPart>(&part)) add(said->text);
        if (const auto* call = std::get_if<ai::ToolCallContentPart>(&part)) {
            add(call->id);
            add(call->tool_name);
            add_json(call->arguments);
        }
        if (const auto* result = std::get_if<ai::ToolResultContentPart>(&part)) {
            add(result->tool_call_id + (result->is_error ? "!" : "."));
            add_json(result->result);
        }
    }
    return text;
}

std::string shown(const ai::JsonValue& result) {
    const ai::Message m(ai::kMessageRoleUser, {ai::ToolResultContentPart("c", result)});
    return text_of(m, 0);
}

}  // namespace

/// The SDK has no field that is not shown: the mark of a failed result.
template <>
void whittle::testing::drop_a_field(ai::Message& message) {
    for (ai::ContentPart& part : message.content)
        if (auto* result = std::get_if<ai::ToolResultContentPart>(&part)) result->is_error = false;
}

template <>
struct whittle::testing::Builder<ai::Message> {
    static constexpr std::string_view name = "ai::Message";
    static constexpr bool joins_results = true;
    /// The rules that it is held to, the stricter ones last.
    static std::array<const ValidityProfile*, 2> profiles() { return {&anthropic_messages(), &anthropic_thinking()}; }
    static std::vector<ai::Message> build(const ChatMessage& m) {
        ai::Message built(m.role == Role::system      ? ai::kMessageRoleSystem
                          : m.role == Role::assistant ? ai::kMessageRoleAssistant
                                                      : ai::kMessageRoleUser,
                          {});
        for (const Part& part : m.parts) {
            if (part.kind == PartKind::tool_result) {
                built.content.emplace_back(
                    ai::ToolResultContentPart(part.call_id, result_value(part.text), part.is_error));
            } else if (part.kind == PartKind::tool_call) {
                ai::JsonValue arguments = ai::JsonValue::parse(part.text, nullptr, false);
                if (arguments.is_discarded()) arguments = part.text;
                built.content.emplace_back(ai::ToolCallContentPart(part.call_id, part.tool, std::move(arguments)));
            } else if (part.kind == PartKind::text || part.kind == PartKind::thinking) {
                built.content.emplace_back(ai::TextContentPart(part.text));
            }
        }
        return {std::move(built)};
    }
};

TEST_CASE("the traits of ai::Message lose nothing", "[host]") {
    const ConformanceReport report = host_conformance(MessageFixture<ai::Message>{.build = build, .dump = dump});
    INFO(report.text());
    CHECK(report.passed());
}

TEST_CASE("an adapter of ai-sdk-cpp that drops a field, reorders parts or loses an id is caught by name", "[host]") {
    check_host_mutants(MessageFixture<ai::Message>{.build = build, .dump = dump});
}

TEST_CASE("a result of any JSON is shown, and set again, as what it was", "[host]") {
    CHECK(shown("words") == "words");
    CHECK(shown({{"a", 1}}) == R"({"a":1})");
    CHECK(shown(R"({"a":1})") == R"("{\"a\":1}")");
    CHECK(shown("123") == R"("123")");
    CHECK(shown(R"("quoted")") == R"("quoted")");
    for (const ai::JsonValue& result :
         {ai::JsonValue("words"), ai::JsonValue({{"a", {1, 2}}}), ai::JsonValue(R"({"a":1})"), ai::JsonValue(123),
          ai::JsonValue("123"), ai::JsonValue(R"("123")"), ai::JsonValue(nullptr), ai::JsonValue(""),
          ai::JsonValue(std::string(200, '[') + std::string(200, ']'))}) {
        ai::Message m(ai::kMessageRoleUser, {ai::ToolResultContentPart("c", result)});
        const std::string text = shown(result);
        message_traits<ai::Message>::set_text(m, 0, "");
        message_traits<ai::Message>::set_text(m, 0, text);
        CHECK(std::get<ai::ToolResultContentPart>(m.content[0]).result == result);
    }
}

TEST_CASE("a list that goes on is taken in once, and another list as a whole", "[host]") {
    const Chain chain{ChainConfig{}, Reduction<ai::Message>{{.skip_truncation = true, .max_tokens_for_clear = 9'000}}};
    host::AiSdkHooks hooks(chain, "s");
    ai::Messages sent;
    const auto generate = hooks.wrap([&](const ai::GenerateOptions& options) {
        sent = options.messages;
        return ai::GenerateResult("done", ai::kFinishReasonStop, ai::Usage{});
    });
    ai::Messages list{ai::Message::user("one"), ai::Message::assistant("two")};
    generate(ai::GenerateOptions("m", list));
    list.push_back(ai::Message::user("three"));
    generate(ai::GenerateOptions("m", list));
    CHECK(sent.size() == 3);
    CHECK(hooks.conversation().size() == 3);
    generate(ai::GenerateOptions("m", ai::Messages{ai::Message::user("another")}));
    REQUIRE(sent.size() == 1);
    CHECK(sent[0].get_text() == "another");
}

TEST_CASE("a call that fails for another reason is not made again", "[host]") {
    const Chain chain{ChainConfig{}, Reduction<ai::Message>{{.skip_truncation = true, .max_tokens_for_clear = 9'000}}};
    host::AiSdkHooks hooks(chain, "s");
    int calls = 0;
    const auto generate = hooks.wrap([&](const ai::GenerateOptions&) {
        ++calls;
        return ai::GenerateResult("API error (401): the key is wrong");
    });
    CHECK(!generate(ai::GenerateOptions("m", {ai::Message::user("one")})).is_success());
    CHECK(calls == 1);
}

TEST_CASE("every law holds on ai::Message", "[host][laws]") { run_host_laws<ai::Message>(); }
