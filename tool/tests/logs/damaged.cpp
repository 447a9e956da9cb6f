// Files as a full disk, a killed agent or a careless editor leaves them.
#include "log_file.hpp"
#include "support/catch.hpp"
#include "support/soak.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;
using logs::Format;

namespace {

using Generator = std::mt19937;

std::size_t below(Generator& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1);
        lines.push_back(text.substr(at, end + 1 - at));
        at = end + 1;
    }
    return lines;
}

/// Lines left out, written twice, or in another place.
std::string with_lines_moved(const std::string& text, Generator& random) {
    std::vector<std::string> lines = lines_of(text);
    for (std::size_t n = 1 + below(random, 3); n > 0 && !lines.empty(); --n) {
        const auto at = lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size()));
        const auto other = lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size()));
        switch (below(random, 3)) {
            case 0: lines.erase(at); break;
            case 1: lines.insert(at, std::string(*other)); break;
            default: std::swap(*at, *other);
        }
    }
    std::string moved;
    for (const std::string& line : lines) moved += line;
    return moved;
}

/// Bytes changed, taken out or put in, or the end cut off.
std::string with_bytes_changed(std::string text, Generator& random) {
    constexpr std::string_view odd = "\"\\{}[]:,0\n\0\xFF e-u";
    for (std::size_t n = 1 + below(random, 4); n > 0 && !text.empty(); --n) {
        const std::size_t at = below(random, text.size());
        switch (below(random, 5)) {
            case 0: text[at] = static_cast<char>(random() & 0xFFU); break;
            case 1: text[at] = odd[below(random, odd.size())]; break;
            case 2: text.erase(at, 1 + below(random, 40)); break;
            case 3: text.insert(at, text.substr(below(random, text.size()), below(random, 80))); break;
            default: text.resize(at);
        }
    }
    return text;
}

/// What is true of whatever was read.
void check_sound(const ReadLog& log) {
    std::size_t complaints = 0;
    const auto require = [&](bool holds) { complaints += holds ? 0 : 1; };
    require(static_cast<std::size_t>(log.notes.sessions) == log.sessions.size());
    require(log.notes.damaged_lines.size() <= 20);
    for (const logs::Session& session : log.sessions) {
        const auto& messages = session.recording.messages;
        require((!messages.empty() || !session.elsewhere.empty()) && !session.recording.id.empty());
        require(session.recording.seconds_since_first.empty() ||
                session.recording.seconds_since_first.size() == messages.size());
        std::size_t last = 0;
        for (const logs::Call& call : session.calls) {
            require(call.reply < messages.size() && messages[call.reply].json()["role"] == "assistant");
            require(&call == session.calls.data() || call.reply > last);
            last = call.reply;
            static_cast<void>(session.request_of(call));
        }
        for (const RecordedUsage& usage : session.recording.usage_by_call) require(usage.message < messages.size());
        for (const logs::Compaction& compaction : session.compactions) require(compaction.before <= messages.size());
        const Usage sum = logs::billed(session);
        require(sum.uncached_input >= 0 && sum.cache_read >= 0 && sum.cache_write >= 0 && sum.output >= 0);
        static_cast<void>(to_json_line(session.recording));
    }
    CHECK(complaints == 0);
}

/// Usage by the id of the reply.
std::map<std::string, Usage> usage_by_reply(const ReadLog& log) {
    std::map<std::string, Usage> usage;
    for (const logs::Session& session : log.sessions) {
        for (const logs::Call& call : session.calls) {
            if (!call.id.empty()) usage[call.id] = call.usage.value_or(Usage{});
        }
    }
    return usage;
}

bool is_within(const Usage& part, const Usage& whole) {
    return part.uncached_input <= whole.uncached_input && part.cache_read <= whole.cache_read &&
           part.cache_write <= whole.cache_write && part.output <= whole.output;
}

}  // namespace

TEST_CASE("damaged logs are read to their end, whatever is wrong with them", "[logs]") {
    Generator random(20'261'125);
    const std::size_t rounds = 1'000 / every(5);
    for (const std::string& name : all_fixtures()) {
        CAPTURE(name);
        const std::string text = fixture_text(name);
        const Format format = logs::recognise(text).value();
        for (std::size_t round = 0; round < rounds; ++round) {
            CAPTURE(round);
            const std::string damaged =
                round % 3 == 0 ? with_lines_moved(text, random) : with_bytes_changed(text, random);
            check_sound(read_text_as(damaged, format));
            static_cast<void>(logs::recognise(damaged));
        }
    }
}

TEST_CASE("a log may be read as any format", "[logs]") {
    for (const std::string& name : all_fixtures()) {
        for (const Format format : logs::formats()) {
            CAPTURE(name, logs::to_string(format));
            check_sound(read_text_as(fixture_text(name), format));
        }
    }
}

TEST_CASE("lines that are missing, doubled or out of order give no reply another one's bill", "[logs]") {
    Generator random(7);
    const std::string text = fixture_text("claude_code.jsonl");
    const auto whole = usage_by_reply(read_text_as(text, Format::claude_code));
    const std::map<std::string, Usage> taken_back{{"msg_3", {4, 13'300, 60, 9}}};
    for (std::size_t round = 0; round < 3'000 / every(5); ++round) {
        CAPTURE(round);
        for (const auto& [id, usage] :
             usage_by_reply(read_text_as(with_lines_moved(text, random), Format::claude_code))) {
            CAPTURE(id);
            const auto known = whole.contains(id) ? whole.find(id) : taken_back.find(id);
            CHECK(is_within(usage, known->second));
        }
    }
}

TEST_CASE("a log that is cut off anywhere keeps what stands in front", "[logs]") {
    const std::string text = fixture_text("codex.jsonl");
    std::size_t calls = 0;
    for (std::size_t size = 0; size < text.size(); size += every(13)) {
        const ReadLog log = read_text_as(text.substr(0, size), Format::codex);
        check_sound(log);
        CHECK(log.notes.damaged <= 1);
        const std::size_t now = log.sessions.empty() ? 0 : log.sessions[0].calls.size();
        CHECK(now + 1 >= calls);  // a reply that is not over yet may hold nothing
        calls = std::max(calls, now);
    }
    CHECK(calls == 4);
}

TEST_CASE("a line above the limit is damaged, and the next one is read", "[logs]") {
    const std::string long_line = R"({"type":"compacted","payload":{"message":")" + std::string(2'000, 'x') + "\"}}\n";
    const ReadLog log =
        read_text_as(long_line + fixture_text("codex.jsonl"), Format::codex, {.limits = {.max_bytes = 1'000}});
    CHECK(log.notes.damaged == 1);
    CHECK(log.notes.damaged_lines.at(0).line == 1);
    CHECK(log.sessions.at(0).compactions.size() == 1);
    CHECK(log.sessions.at(0).calls.size() == 4);
}

TEST_CASE("arrays that are nested too deep damage their line alone", "[logs]") {
    const std::string deep(100'000, '[');
    const ReadLog log = read_text_as(deep + "\n" + fixture_text("claude_code.jsonl"), Format::claude_code);
    CHECK(log.notes.damaged == 1);
    CHECK(log.sessions.size() == 2);
}
