#include "whittle/base/text.hpp"
#include "whittle/host_conformance/conformance.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace whittle::inline v0 {

namespace {

/// SplitMix64: the value of step `n` of the sequence of a seed.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t n) noexcept {
    std::uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

std::string field_word(std::uint64_t seed, std::uint64_t n) { return fmt::format("f{:016x}", mixed(seed, n)); }

const std::vector<std::string>& hostile_texts() {
    static const std::vector<std::string> texts{
        "",
        " ",
        "\n",
        "two\r\nlines\t",
        std::string("nul\0inside", 10),
        "\xC3(",
        "open end \xE6\xBC",
        "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB \xE6\xBC\xA2\xE5\xAD\x97",
        R"({"a":1})",
        R"([1,2,{"b":[]}])",
        "123",
        "-0.5e3",
        "true",
        "null",
        R"("quoted")",
        R"("{\"a\":1}")",
        R"(back\slash "quote" </tool_response>)",
        "[Old read result cleared: 9 bytes, 1 lines. Full text: other/clear/c1]",
        "<think>no thinking</think>",
        "data:image/png;base64,AAAA",
        std::string(3'000, 'x') + "\n" + std::string(3'000, 'y'),
    };
    return texts;
}

const std::vector<std::string>& hostile_ids() {
    static const std::vector<std::string> ids{"",
                                              " ",
                                              "call_1",
                                              "CALL_1",
                                              "../../etc/passwd",
                                              "a/b",
                                              "con\x01",
                                              std::string("a\0b", 3),
                                              "\xC3(",
                                              "\xE6\xBC\xA2",
                                              std::string(5'000, 'i')};
    return ids;
}

const std::vector<std::string>& objects() {
    static const std::vector<std::string> texts{"{}",
                                                R"({"path":"a.txt"})",
                                                R"({"a":[1,2.5,null,true],"b":{"c":"\"d\"\\"}})",
                                                R"({"text":"漢字 \n\u0000"})",
                                                R"({ "spaced" : 1 })",
                                                R"({"b":1,"a":2,"b":3})",
                                                R"({"big":123456789012345678901234567890})",
                                                "not json",
                                                "",
                                                "[1]"};
    return texts;
}

}  // namespace

bool FieldValues::one_in(std::uint64_t n) noexcept { return mixed(seed_, draws_++) % n == 0; }

std::string FieldValues::value() {
    given_.push_back({field_word(~seed_, given_.size()), std::nullopt});
    return given_.back().value;
}

std::string FieldValues::value_of(std::size_t part) {
    given_.push_back({field_word(~seed_, given_.size()), part});
    return given_.back().value;
}

namespace detail {

std::uint64_t ConformanceMessages::below(std::uint64_t n) noexcept { return mixed(state_++, 0) % n; }

std::string ConformanceMessages::allowed(const std::string& text) const {
    return utf8_only_ ? to_valid_utf8(text) : text;
}

std::string ConformanceMessages::text(PartKind kind) {
    if (below(2) == 0) {
        const std::size_t turn = hostile_[static_cast<std::size_t>(kind)]++;
        return allowed(hostile_texts()[turn % hostile_texts().size()]);
    }
    std::string words = fmt::format("text {}", below(1'000'000));
    for (std::uint64_t n = below(6); n > 0; --n) words += fmt::format(" of {} words\n", below(100));
    return words;
}

std::string ConformanceMessages::id() {
    if (below(4) == 0) return allowed(hostile_ids()[below(hostile_ids().size())]);
    return fmt::format("call_{}", below(1'000));
}

std::string ConformanceMessages::arguments() {
    return below(2) == 0 ? objects()[below(objects().size())] : fmt::format(R"({{"number":{}}})", below(1'000));
}

Part ConformanceMessages::media() {
    Part part{.kind = PartKind::media};
    switch (below(3)) {
        case 0: part.media.url = fmt::format("https://example.org/{}.png", below(1'000)); break;
        case 1: part.media.url = "data:image/png;base64,iVBORw0KGgo="; break;
        default: part.media = {.mime = "image/png", .bytes = "\x89PNG\r\n\x1A\n" + std::to_string(below(1'000))};
    }
    return part;
}

void ConformanceMessages::add_texts(ChatMessage& m, std::uint64_t at_most) {
    for (std::uint64_t n = below(at_most + 1); n > 0; --n) m.parts.push_back({.text = text(PartKind::text)});
}

void ConformanceMessages::add_calls(ChatMessage& m, std::uint64_t at_most) {
    for (std::uint64_t n = below(at_most) + 1; n > 0; --n) {
        std::string call_id = id();  // drawn one by one: compilers evaluate arguments in different orders
        std::string tool = fmt::format("tool_{}", below(9));
        m.call(std::move(call_id), std::move(tool), arguments());
    }
}

void ConformanceMessages::add_result(ChatMessage& m) {
    const std::string call = id();
    const std::string tool = fmt::format("tool_{}", below(9));
    const bool is_error = below(4) == 0;
    for (std::uint64_t n = below(4) == 0 ? 2 + below(2) : 1; n > 0; --n) {
        const bool is_media = below(6) == 0;
        Part part = is_media ? media() : Part{.text = text(PartKind::tool_result), .tool = tool, .is_error = is_error};
        if (!is_media) part.kind = PartKind::tool_result;
        part.call_id = call;
        m.parts.push_back(std::move(part));
    }
}

ChatMessage ConformanceMessages::next() {
    ChatMessage m;
    switch (below(9)) {
        case 0: m = ChatMessage::system(text(PartKind::text)); break;
        case 1: m = ChatMessage::user(text(PartKind::text)); break;
        case 2:  // texts and media
            add_texts(m, 3);
            m.parts.push_back(media());
            add_texts(m, 1);
            break;
        case 3: m = ChatMessage::assistant(text(PartKind::text)); break;
        case 4:  // a reply as most formats have it
            m.role = Role::assistant;
            if (below(2) == 0) m.parts.push_back({.kind = PartKind::thinking, .text = text(PartKind::thinking)});
            add_texts(m, 2);
            add_calls(m, 3);
            break;
        case 5:  // calls and words in turns
            m.role = Role::assistant;
            add_calls(m, 2);
            add_texts(m, 1);
            add_calls(m, 1);
            break;
        case 6:
        case 7:
            m.role = Role::tool;
            add_result(m);
            break;
        default:  // all results of a reply, and a word of the user
            m.role = below(2) == 0 ? Role::tool : Role::user;
            add_result(m);
            add_result(m);
            add_texts(m, 1);
    }
    return m;
}

std::vector<ToolResult> ConformanceMessages::next_results() {
    std::vector<ToolResult> results;
    for (std::uint64_t n = 1 + below(3); n > 0; --n) {
        ToolResult result{.call_id = fmt::format("{}-{}", id(), n), .tool = fmt::format("tool_{}", below(9))};
        result.is_error = below(4) == 0;
        for (std::uint64_t parts = below(3); parts > 0; --parts)
            result.parts.push_back({.text = text(PartKind::tool_result)});
        if (below(5) == 0) result.parts.push_back(media());
        results.push_back(std::move(result));
    }
    return results;
}

std::span<const std::string> replacement_texts(PartKind kind) {
    static const std::array<std::string, 2> arguments{R"({"note":"argument offloaded","reference":"a/b"})", "{}"};
    static const std::array<std::string, 8> texts{"[Old result cleared. Full text: a/clear/c1]",
                                                  "漢字 \xF0\x9F\x91\xA9",
                                                  "\xC3( no UTF-8",
                                                  std::string("nul\0inside", 10),
                                                  R"({"a":1})",
                                                  R"("quoted")",
                                                  "true",
                                                  std::string(5'000, 'z')};
    if (kind == PartKind::tool_call) return arguments;
    return texts;
}

std::span<const std::string> bad_arguments() {
    static const std::array<std::string, 7> texts{"",         " ",    "not json",           "[1]",
                                                  R"({"a":)", "null", R"({"a":1} and more)"};
    return texts;
}

}  // namespace detail

}  // namespace whittle::inline v0
