// What holds for every Anthropic message, tried on random ones.
#include "extensions/provider/tests/random_json.hpp"
#include "support/catch.hpp"
#include "whittle/anthropic/anthropic.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace whittle;
using anthropic::Message;
using Json = nlohmann::ordered_json;
using Traits = message_traits<Message>;

namespace {

/// Random messages: mostly well-formed, often odd.
class Generator : public whittle::testing::RandomJson {
public:
    using RandomJson::RandomJson;

    Json message() {
        static const char* const roles[] = {"user", "assistant", "system"};
        Json m = Json::object();
        if (chance(3)) m["unknown"] = value(3);
        m["role"] = roles[below(3)];
        if (!chance(8)) m["content"] = content();
        if (chance(4)) m["\xE2\x9C\x93 key"] = value(2);
        return m;
    }

private:
    Json content() {
        if (chance(4)) return text();
        if (chance(10)) return value(2);
        Json blocks = Json::array();
        for (std::size_t n = below(5); n > 0; --n) blocks.push_back(block());
        return blocks;
    }
    Json block() {
        switch (below(9)) {
            case 0: return value(2);
            case 1: return {{"type", "thinking"}, {"thinking", text()}, {"signature", chance(2) ? "" : "S"}};
            case 2: return {{"type", "redacted_thinking"}, {"data", text()}};
            case 3:
                return {{"type", "tool_use"},
                        {"id", "c"},
                        {"name", "f"},
                        {"input", chance(4) ? value(2) : Json{{"k", value(2)}}}};
            case 4:
            case 5: return result();
            case 6: return {{"type", "server_tool_use"}, {"input", value(2)}, {"id", "s"}};
            default: return item();
        }
    }
    Json item() {
        switch (below(5)) {
            case 0:
                return {{"type", "image"},
                        {"source", {{"type", "base64"}, {"media_type", "image/png"}, {"data", "AAAA"}}}};
            case 1: return {{"type", "document"}, {"source", {{"type", chance(3) ? "new" : "text"}, {"data", text()}}}};
            case 2: return {{"type", "search_result"}, {"content", value(2)}};
            default: return {{"type", "text"}, {"extra", value(1)}, {"text", text()}};
        }
    }
    Json result() {
        Json result{{"type", "tool_result"}, {"tool_use_id", "call_" + std::to_string(below(9))}};
        if (chance(3)) result["is_error"] = chance(2);
        if (chance(5)) return result;
        if (chance(2)) {
            result["content"] = chance(6) ? value(2) : Json(text());
            return result;
        }
        result["content"] = Json::array();
        for (std::size_t n = below(4); n > 0; --n) result["content"].push_back(item());
        return result;
    }
};

bool is_shown_replaced(const Part& part) { return part.text.find("\xEF\xBF\xBD") != std::string::npos; }

/// Whether `set_text` accepts the part's own text again.
bool takes_own_text(const Message& m, std::size_t p, const Part& part) {
    if (part.kind == PartKind::tool_call && (!is_json_object(part.text) || is_shown_replaced(part))) return false;
    if (part.kind == PartKind::media || !is_valid_utf8(part.text)) return false;
    Message copy = m;
    try {
        Traits::set_text(copy, p, part.text);
    } catch (const Error&) {
        return false;
    }
    return true;
}

/// An empty result has no text in the JSON: setting it gives it one.
bool is_result_without_text(const Part& part) { return part.kind == PartKind::tool_result && part.text.empty(); }

/// Whether some result holds more than text: without its text it shows an empty one.
bool has_more_than_text_in_result(const std::vector<Part>& parts) {
    return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
        return (part.kind == PartKind::other || part.kind == PartKind::media) && !part.call_id.empty();
    });
}

}  // namespace

TEST_CASE("reading an Anthropic message does not change it, and its bytes come back", "[anthropic][laws]") {
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

TEST_CASE("setting an Anthropic text and setting the old one again gives the identical message", "[anthropic][laws]") {
    Generator random(2);
    int tried = 0;
    for (int i = 0; i < 3'000; ++i) {
        Message m(random.message());
        const std::string before = Traits::to_bytes(m);
        const std::vector<Part> parts = parts_of(m);
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (!takes_own_text(m, p, parts[p]) || is_result_without_text(parts[p])) continue;
            const bool is_call = parts[p].kind == PartKind::tool_call;
            const std::string text = is_call ? R"({"x":[1,{}]})" : random.text();
            Traits::set_text(m, p, text);
            std::vector<Part> expected = parts;
            expected[p].text = to_valid_utf8(text);
            CAPTURE(before, p);
            REQUIRE(parts_of(m) == expected);
            Traits::set_text(m, p, parts[p].text);
            REQUIRE(Traits::to_bytes(m) == before);
            ++tried;
        }
    }
    CHECK(tried > 1'000);
}

TEST_CASE("erasing many Anthropic parts at once is erasing them one by one from the last", "[anthropic][laws]") {
    Generator random(14);
    int many = 0;
    for (int i = 0; i < 3'000; ++i) {
        const Message before(random.message());
        if (has_more_than_text_in_result(parts_of(before))) continue;  // there one erase can take two parts
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

TEST_CASE("erasing an Anthropic part takes that part and no other", "[anthropic][laws]") {
    Generator random(4);
    int emptied = 0;
    for (int i = 0; i < 3'000; ++i) {
        Message m(random.message());
        std::vector<Part> expected = parts_of(m);
        if (has_more_than_text_in_result(expected)) continue;
        while (!expected.empty()) {
            const std::size_t p = random.below(expected.size());
            const std::string before = Traits::to_bytes(m);
            Traits::erase_part(m, p);
            expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(p));
            CAPTURE(before, p);
            REQUIRE(parts_of(m) == expected);
        }
        ++emptied;
    }
    CHECK(emptied > 1'500);
}

TEST_CASE("an edit of an Anthropic message that throws leaves it as it was", "[anthropic][laws]") {
    Generator random(5);
    int thrown = 0;
    for (int i = 0; i < 2'000; ++i) {
        const Message m(random.message());
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

TEST_CASE("made Anthropic results are valid UTF-8 and answer each call once, in one message", "[anthropic][laws]") {
    Generator random(6);
    for (int i = 0; i < 500; ++i) {
        std::vector<ToolResult> results(1 + random.below(4));
        for (std::size_t r = 0; r < results.size(); ++r) {
            results[r].call_id = "c" + std::to_string(r);
            results[r].is_error = random.below(3) == 0;
            for (std::size_t n = random.below(4); n > 0; --n) {
                const bool is_media = random.below(3) == 0;
                results[r].parts.push_back(
                    {.kind = is_media ? PartKind::media : PartKind::text, .text = random.text()});
                if (is_media) results[r].parts.back().media = {.mime = random.text(), .bytes = random.text()};
            }
        }
        const auto messages = Traits::make_tool_results(results);
        REQUIRE(messages.size() == 1);
        REQUIRE_NOTHROW(messages[0].json().dump());
        const Json& content = messages[0].json()["content"];
        REQUIRE(content.size() >= results.size());
        for (std::size_t r = 0; r < results.size(); ++r) {
            REQUIRE(content[r]["tool_use_id"] == results[r].call_id);
            REQUIRE(content[r].value("is_error", false) == results[r].is_error);
        }
    }
}
