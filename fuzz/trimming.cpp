// Any bytes as results and arguments: every line that a trimmed result shows is one of the original or a marker,
// arguments stay JSON of the same shape, undo gives everything back, and the same input gives the same bytes.
#include "../src/trimming/extract_form.hpp"
#include "../src/trimming/json_strings.hpp"
#include "../src/trimming/read_form.hpp"
#include "../tests/support/tuned_trimming.hpp"
#include "whittle/trimming/detail/line_forms.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using whittle::ChatMessage;

void require(bool condition) {
    if (!condition) __builtin_trap();
}

/// The text in pieces: names of tools, arguments and results.
std::vector<std::string> pieces_of(std::string_view text) {
    std::vector<std::string> pieces;
    for (std::size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
        pieces.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    pieces.emplace_back(text);
    return pieces;
}

nlohmann::json shape_of(nlohmann::json value) {
    std::vector<nlohmann::json*> open{&value};
    while (!open.empty()) {
        nlohmann::json& at = *open.back();
        open.pop_back();
        if (at.is_string()) at = "";
        if (!at.is_structured()) continue;
        for (nlohmann::json& element : at) open.push_back(&element);
    }
    return value;
}

bool is_marker(std::string_view line) {
    return line == ".." || line.starts_with("[..") || line.starts_with("[fuzz/") ||
           (line.starts_with("[") && line.find(" left out; read_offloaded(\"fuzz/") != std::string_view::npos);
}

/// Every line that is shown is a line of the original, without its number or cut at its end.
void check_lines(const std::string& original, const std::string& shown) {
    const std::string plain = whittle::detail::without_reminders(original);
    std::vector<std::string> lines;
    for (const std::string& text : {original, plain}) {
        for (const std::string_view line : whittle::detail::split_lines(text)) lines.emplace_back(line);
    }
    for (std::string_view line : whittle::detail::split_lines(shown)) {
        if (is_marker(line) || whittle::is_blank(line)) continue;
        if (line.ends_with("…")) line.remove_suffix(3);
        bool is_known = false;
        for (const std::string& of : lines) is_known = is_known || of.find(line) != std::string::npos;
        require(is_known || original.find('\x1b') != std::string::npos);
    }
}

struct Outcome {
    std::vector<std::string> texts{};
};

Outcome run(const std::vector<std::string>& pieces, whittle::TrimUnit unit) {
    whittle::ChainConfig config{.storage = whittle::memory_storage()};
    config.clock = std::make_shared<whittle::ManualClock>(1);
    const whittle::Chain<> chain(config, whittle::testing::TunedTrimming<>{whittle::testing::eager_trimming(unit)});
    whittle::Conversation<> conversation("fuzz");
    conversation.push_back(ChatMessage::user("go"));
    std::vector<std::string> originals{"go"};
    for (std::size_t i = 0; i + 2 < pieces.size() && i < 60; i += 3) {
        chain.before_model(conversation);
        const std::string id = "c" + std::to_string(i);
        conversation.push_back(ChatMessage::assistant("").call(id, pieces[i], pieces[i + 1]));
        originals.push_back(pieces[i + 1]);
        chain.after_model(conversation);
        const ChatMessage result = ChatMessage::result(id, pieces[i], pieces[i + 2]);
        conversation.push_tool_results(std::span(&result, 1), chain.wrap_results(conversation, std::span(&result, 1)));
        originals.push_back(pieces[i + 2]);
    }
    for (int i = 0; i < 4; ++i) {
        chain.before_model(conversation);
        conversation.push_back(ChatMessage::assistant("thinking about it"));
        originals.emplace_back("thinking about it");
    }
    chain.before_model(conversation);
    Outcome outcome;
    for (std::size_t m = 0; m < conversation.size(); ++m) {
        const bool is_call = m % 2 == 1 && m + 1 < originals.size() && !conversation.messages()[m].parts.empty() &&
                             conversation.messages()[m].parts.back().kind == whittle::PartKind::tool_call;
        const std::string text =
            conversation.messages()[m].parts.empty() ? std::string() : conversation.messages()[m].parts.back().text;
        outcome.texts.push_back(text);
        if (text == originals[m]) continue;
        if (is_call) {
            require(shape_of(nlohmann::json::parse(text)) == shape_of(nlohmann::json::parse(originals[m])));
        } else {
            check_lines(originals[m], text);
        }
    }
    while (conversation.undo()) {
    }
    for (std::size_t m = 0; m < conversation.size(); ++m) {
        if (!conversation.messages()[m].parts.empty())
            require(conversation.messages()[m].parts.back().text == originals[m]);
    }
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::string> pieces = pieces_of({reinterpret_cast<const char*>(data), size});
    for (const whittle::TrimUnit unit : {whittle::TrimUnit::passages, whittle::TrimUnit::lines})
        require(run(pieces, unit).texts == run(pieces, unit).texts);
    return 0;
}
