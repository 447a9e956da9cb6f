#include "scripted_reader.hpp"

#include <algorithm>
#include <string_view>

namespace scripted {

namespace {

/// What follows `words` in a text, up to the end of the word.
std::string word_behind(std::string_view text, std::string_view words) {
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = text.substr(at + words.size());
    const std::size_t end =
        rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./");
    std::string word(rest.substr(0, end));
    while (word.ends_with('.')) word.pop_back();
    return word;
}

std::string look_for(const std::vector<SeenMessage>& request, std::string_view words, std::string_view but_role = "") {
    for (const SeenMessage& seen : request) {
        if (seen.role == but_role) continue;
        if (std::string word = word_behind(seen.text, words); !word.empty()) return word;
    }
    return {};
}

/// Where the notice of a shortened result says that the rest is.
std::string reference_in(const std::vector<SeenMessage>& request, int part) {
    for (const SeenMessage& seen : request) {
        if (seen.role != "tool" || seen.part != part) continue;
        for (const std::string_view words : {"read_offloaded(\"", "read_offloaded(\\\"",
                                             "Full text: ", "full text: ", "Full output: ", "reference "}) {
            if (std::string word = word_behind(seen.text, words); !word.empty()) return word;
        }
    }
    return {};
}

Step answer_serial(const std::vector<SeenMessage>& request, int part, bool reads_back) {
    if (std::string serial = look_for(request, "serial of part " + std::to_string(part) + " is "); !serial.empty())
        return {.answer = "It is " + serial + "."};
    const std::string reference = reference_in(request, part);
    if (!reads_back || reference.empty() || request.back().role == "tool") return {.answer = "I do not know."};
    return {.tool = "read_offloaded", .arguments = R"({"reference":")" + reference + R"(","grep":"serial"})"};
}

}  // namespace

Step next_step(const std::vector<SeenMessage>& request, bool reads_back) {
    std::string question;
    int read = 0;
    for (const SeenMessage& seen : request) {
        if (seen.role == "user" && seen.text != "Please go on.") question = seen.text;
        if (seen.role == "assistant") read = std::max(read, seen.part);
    }
    if (const std::string part = word_behind(question, "What is the serial of part "); !part.empty())
        return answer_serial(request, std::stoi(part), reads_back);
    if (question.starts_with("What is the word of the day")) {
        const std::string word = look_for(request, "word of the day is ", "assistant");
        return {.answer = word.empty() ? "I do not know." : "It is " + word + "."};
    }
    const std::string last = word_behind(question, "Read parts 1 to ");
    if (last.empty()) return {.answer = "I do not know what to do."};
    if (read >= std::stoi(last)) return {.answer = "All parts are read."};
    return {.tool = "read_log", .arguments = R"({"part":)" + std::to_string(read + 1) + "}"};
}

std::string serial_of(int part) { return "K-" + std::to_string(part) + "-" + std::to_string(7'000 + 37 * part); }

std::string log_part(int part) {
    std::string text;
    for (int line = 1; line <= 150; ++line) {
        text += "part " + std::to_string(part) + " line " + std::to_string(line) + ": the service answered in " +
                std::to_string((line * 7 + part) % 90) + " ms\n";
        if (line == 75) text += "the serial of part " + std::to_string(part) + " is " + serial_of(part) + "\n";
    }
    return text;
}

}  // namespace scripted
