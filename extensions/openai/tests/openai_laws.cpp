// What holds for every message, tried on random ones.
#include "extensions/provider/tests/random_json.hpp"
#include "support/catch.hpp"
#include "whittle/openai/openai.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace whittle;
using openai::Message;
using Json = nlohmann::ordered_json;
using Traits = message_traits<Message>;

namespace {

/// Random messages: mostly well-formed, often odd.
class Generator : public whittle::testing::RandomJson {
public:
    using RandomJson::RandomJson;

    Json message() {
        static const char* const roles[] = {"system", "developer", "user", "assistant", "tool", "function"};
        Json m = Json::object();
        if (chance(3)) m["unknown"] = value(3);
        m["role"] = roles[below(6)];
        if (!chance(6)) m["content"] = content();
        if (chance(3)) m["reasoning_content"] = chance(5) ? Json(nullptr) : Json(text());
        if (chance(2)) m["tool_calls"] = calls();
        if (chance(3)) m["tool_call_id"] = chance(6) ? Json(7) : Json("call_" + std::to_string(below(9)));
        if (chance(3)) m["name"] = text();
        if (chance(6)) m["refusal"] = chance(2) ? Json(nullptr) : Json(text());
        if (chance(9)) m["function_call"] = value(2);
        if (chance(3)) m["\xE2\x9C\x93 key"] = value(2);
        return m;
    }

private:
    Json content() {
        if (chance(2)) return text();
        if (chance(4)) return nullptr;
        if (chance(8)) return value(2);
        Json items = Json::array();
        for (std::size_t n = below(4); n > 0; --n) items.push_back(item());
        return items;
    }
    Json item() {
        switch (below(6)) {
            case 0: return value(2);
            case 1: return {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64,AAAA"}}}};
            case 2: return {{"type", "input_audio"}, {"input_audio", {{"data", "AAAA"}, {"format", "wav"}}}};
            case 3: return {{"type", "refusal"}, {"refusal", text()}};
            default: return {{"type", "text"}, {"extra", value(1)}, {"text", text()}};
        }
    }
    Json calls() {
        Json list = Json::array();
        for (std::size_t n = below(3); n > 0; --n) {
            const Json arguments = chance(3) ? Json{{"k", value(2)}} : chance(4) ? value(1) : Json(R"({"p": "q"})");
            list.push_back(
                {{"id", "call_" + std::to_string(below(9))}, {"function", {{"name", "f"}, {"arguments", arguments}}}});
        }
        if (chance(5)) list.push_back(value(2));
        return list;
    }
};

/// A result without content comes back as an empty one, which is a text of its own.
bool is_virtual_result(const Message& m, const Part& part) {
    const auto content = m.json().find("content");
    return part.kind == PartKind::tool_result && part.text.empty() && content != m.json().end() &&
           !content->is_string();
}

/// A tool message of opaque items alone: it shows one empty result more than it has items.
bool is_opaque_result(const Message& m) {
    const auto content = m.json().find("content");
    if (Traits::role(m) != Role::tool || content == m.json().end() || !content->is_array() || content->empty())
        return false;
    const std::vector<Part> parts = parts_of(m);
    return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return is_virtual_result(m, part); });
}

bool can_be_set(const Message& m, const Part& part) {
    const bool was_shown_replaced = part.text.find("\xEF\xBF\xBD") != std::string::npos;  // an object, not UTF-8
    if (part.kind == PartKind::tool_call) return is_json_object(part.text) && !was_shown_replaced;
    return part.kind == PartKind::text || part.kind == PartKind::thinking ||
           (part.kind == PartKind::tool_result && !is_virtual_result(m, part));
}

}  // namespace

TEST_CASE("reading a message does not change it, and its bytes come back", "[openai][laws]") {
    Generator random(1);
    for (int i = 0; i < 3'000; ++i) {
        const Message m(random.message());
        const std::string bytes = Traits::to_bytes(m);
        (void)parts_of(m);
        REQUIRE(Traits::to_bytes(m) == bytes);
        const Message back = Traits::from_bytes(bytes);
        REQUIRE(Traits::to_bytes(back) == bytes);
        REQUIRE(parts_of(back) == parts_of(m));
    }
}

TEST_CASE("setting a text and setting the old one again gives the identical message", "[openai][laws]") {
    Generator random(2);
    int tried = 0;
    for (int i = 0; i < 3'000; ++i) {
        Message m(random.message());
        const std::string before = Traits::to_bytes(m);
        const std::vector<Part> parts = parts_of(m);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (!can_be_set(m, parts[p]) || !is_valid_utf8(parts[p].text)) continue;
            const std::string text = parts[p].kind == PartKind::tool_call ? "{\"x\": [1, {}]}" : random.text();
            Traits::set_text(m, p, text);
            const std::vector<Part> now = parts_of(m);
            REQUIRE(now.size() == parts.size());
            if (parts[p].kind != PartKind::tool_call) REQUIRE(now[p].text == to_valid_utf8(text));
            Traits::set_text(m, p, parts[p].text);
            CAPTURE(before, p);
            REQUIRE(Traits::to_bytes(m) == before);
            ++tried;
        }
    }
    CHECK(tried > 2'000);
}

TEST_CASE("setting one text leaves all other parts as they are", "[openai][laws]") {
    Generator random(3);
    for (int i = 0; i < 2'000; ++i) {
        Message m(random.message());
        const std::vector<Part> parts = parts_of(m);
        if (parts.empty()) continue;
        const std::size_t p = random.below(parts.size());
        if (!can_be_set(m, parts[p])) continue;
        Traits::set_text(m, p, "{}");
        std::vector<Part> expected = parts;
        expected[p].text = "{}";
        REQUIRE(parts_of(m) == expected);
    }
}

TEST_CASE("erasing many parts at once is erasing them one by one from the last", "[openai][laws]") {
    Generator random(14);
    int many = 0;
    for (int i = 0; i < 3'000; ++i) {
        const Message before(random.message());
        std::vector<std::size_t> parts;
        for (std::size_t p = 0; p < parts_of(before).size(); ++p)
            if (random.below(2) == 0) parts.push_back(p);
        if (parts.size() < 2) continue;
        Message together = before;
        Traits::erase_parts(together, Traits::index_parts(before), parts);
        Message alone = before;
        for (std::size_t k = parts.size(); k-- > 0;) Traits::erase_part(alone, parts[k]);
        CAPTURE(Traits::to_bytes(before), parts);
        REQUIRE(Traits::to_bytes(together) == Traits::to_bytes(alone));
        ++many;
    }
    CHECK(many > 300);
}

TEST_CASE("erasing a part takes that part and no other", "[openai][laws]") {
    Generator random(4);
    int emptied = 0;
    for (int i = 0; i < 3'000; ++i) {
        Message m(random.message());
        std::vector<Part> expected = parts_of(m);
        while (!expected.empty() && !is_opaque_result(m)) {
            const std::size_t p = random.below(expected.size());
            const std::string before = Traits::to_bytes(m);
            Traits::erase_part(m, p);
            if (is_opaque_result(m)) break;
            expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(p));
            CAPTURE(before, p);
            REQUIRE(parts_of(m) == expected);
        }
        emptied += expected.empty() ? 1 : 0;
    }
    CHECK(emptied > 2'500);
}

TEST_CASE("an edit that throws leaves the message as it was", "[openai][laws]") {
    Generator random(5);
    int thrown = 0;
    for (int i = 0; i < 2'000; ++i) {
        Message m(random.message());
        const std::string before = Traits::to_bytes(m);
        for (std::size_t p = 0; p <= parts_of(m).size(); ++p) {
            Message copy = m;
            try {
                Traits::set_text(copy, p, "no object");
            } catch (const Error& e) {
                ++thrown;
                REQUIRE(e.errc() == Errc::invalid_argument);
                REQUIRE(Traits::to_bytes(copy) == before);
            }
        }
    }
    CHECK(thrown > 1'000);
}

TEST_CASE("made tool results are always valid UTF-8 and answer each call once", "[openai][laws]") {
    Generator random(6);
    for (int i = 0; i < 500; ++i) {
        std::vector<ToolResult> results(random.below(4));
        for (std::size_t r = 0; r < results.size(); ++r) {
            results[r].call_id = "c" + std::to_string(r);
            results[r].tool = random.text();
            for (std::size_t n = random.below(4); n > 0; --n) {
                const bool is_media = random.below(3) == 0;
                results[r].parts.push_back(
                    {.kind = is_media ? PartKind::media : PartKind::text, .text = random.text()});
                if (is_media) results[r].parts.back().media = {.mime = random.text(), .bytes = random.text()};
            }
        }
        const auto messages = Traits::make_tool_results(results);
        REQUIRE(messages.size() >= results.size());
        REQUIRE(messages.size() <= results.size() + 1);
        for (std::size_t m = 0; m < messages.size(); ++m) {
            REQUIRE_NOTHROW(messages[m].json().dump());
            const auto parts = parts_of(messages[m]);
            REQUIRE_FALSE(parts.empty());
            if (m >= results.size()) continue;
            for (const Part& part : parts) REQUIRE(part.call_id == results[m].call_id);
        }
    }
}
