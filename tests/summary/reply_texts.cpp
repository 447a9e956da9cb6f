// How many replies that are no summaries acceptance takes for one, and how many summaries it refuses: 151 summaries and
// 324 other replies in ten languages (replies/*.txt), judged against a talk, its first four messages and a coding
// session, all in the text's language, and against recorded talks.
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/model/scripted_model.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/saved/trajectory.hpp"
#include "work.hpp"

#include <cstddef>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using TalkMessage = openai::Message;

struct Text {
    std::string kind{};
    std::string text{};
};

std::vector<Text> texts_of(const std::string& language) {
    const std::string path = std::string(WHITTLE_SOURCE_DIR) + "/tests/summary/replies/" + language + ".txt";
    std::ifstream in(path, std::ios::binary);
    std::vector<Text> texts;
    for (std::string line; std::getline(in, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with('#') || colon == std::string::npos) continue;
        Text text{line.substr(0, colon), line.substr(colon + 2)};
        for (std::size_t at = 0; (at = text.text.find("\\n", at)) != std::string::npos;) text.text.replace(at, 2, "\n");
        texts.push_back(std::move(text));
    }
    REQUIRE(texts.size() > 20);
    return texts;
}

Work talk_of(const std::vector<Text>& texts, std::size_t most) {
    Work work;
    std::size_t taken = 0;
    for (const Text& text : texts) {
        if (taken == most) break;
        taken += text.kind == "user" || text.kind == "assistant" ? 1 : 0;
        if (text.kind == "user") work.user(text.text);
        if (text.kind == "assistant") work.assistant(text.text);
    }
    return work;
}

Work code_of(const std::vector<Text>& texts) {
    Work work;
    for (const Text& text : texts) {
        if (text.kind == "code_user") work.user(text.text);
    }
    for (char n = 'a'; n <= 'z'; ++n) {
        const std::string part = std::string("part_a") + n;
        work.round(std::string("call_") + n, "read_file", R"({"path":"src/upload/)" + part + R"(.py"})",
                   "def send_" + part + "(chunk_size):\n    raise RateLimitError(\"429 of send_" + part + "\")\n" +
                       std::string(300, '-'));
    }
    work.round("call_test", "bash", R"({"command":"python -m pytest tests/test_retry.py"})",
               "src/upload/client.py: retry_with_backoff() of src/upload/retry.py\n3 passed");
    return work;
}

struct Count {
    std::size_t wrong = 0;
    std::size_t all = 0;
    std::string texts{};  // the wrong ones
};

/// By kind of text and conversation.
using Counts = std::map<std::string, Count>;

void add(Counts& counts, const std::string& kind, const std::string& refusal, const std::string& text) {
    Count& count = counts[kind];
    const bool is_wrong = refusal.empty() != kind.starts_with("good");
    ++count.all;
    count.wrong += is_wrong ? 1 : 0;
    if (is_wrong) count.texts += "\n    " + text + (refusal.empty() ? "" : " (" + refusal + ")");
}

/// At most so many summaries are refused, and other replies accepted, of each kind; none of those that are not listed.
void check(const Counts& counts, const std::map<std::string, std::size_t>& most_wrong) {
    std::string table;
    for (const auto& [kind, count] : counts) {
        const auto most = most_wrong.find(kind);
        CAPTURE(kind, count.texts);
        CHECK(count.wrong <= (most == most_wrong.end() ? 0U : most->second));
        table += "\n" + kind + ": " + std::to_string(count.wrong) + " of " + std::to_string(count.all) + " wrong";
    }
    WARN(table);
}

bool is_of_talk(const Text& text) {
    return text.kind == "user" || text.kind == "assistant" || text.kind == "code_user";
}

/// Why a reply is refused; empty: it is accepted.
std::string refusal_by(const Conversation<TalkMessage>& talk, const std::string& reply) {
    ScriptedModel<TalkMessage> model([&](const ModelRequest<TalkMessage>&) {
        return Reply<TalkMessage>{message_traits<TalkMessage>::make(Role::assistant, reply)};
    });
    std::vector<std::size_t> fold(talk.size());
    std::iota(fold.begin(), fold.end(), std::size_t{0});
    SummaryGenerationState state;
    const auto result = generate_summary<TalkMessage>(
        {.model = model, .all_messages = talk.messages(), .outline = talk.outline(), .fold = fold},
        {.max_input_tokens = 100'000'000}, {}, {.purpose = "test"}, state);
    return result.failure ? result.failure->message : std::string();
}

}  // namespace

TEST_CASE("summaries and other replies in ten languages are told apart", "[digest]") {
    using MakeWork = std::function<Work()>;
    Counts counts;
    const std::vector<Text> anywhere = texts_of("any");
    for (const std::string language : {"en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja", "ko"}) {
        std::vector<Text> texts = texts_of(language);
        const std::vector<std::pair<std::string, MakeWork>> conversations{
            {"talk", [texts] { return talk_of(texts, 100); }},
            {"start", [texts] { return talk_of(texts, 4); }},
            {"code", [texts] { return code_of(texts); }}};
        texts.insert(texts.end(), anywhere.begin(), anywhere.end());
        for (const Text& text : texts) {
            for (const auto& [name, make] : conversations) {
                const bool is_of_another = text.kind.starts_with("good") && text.kind != "good " + name;
                if (is_of_talk(text) || is_of_another) continue;
                const auto failure = make().run([&](const Request&) { return say(text.text); }).failure;
                add(counts, text.kind.starts_with("good") ? text.kind : text.kind + ", " + name,
                    failure ? failure->message : std::string(), language + ": " + text.text);
            }
        }
    }
    // At the start of a conversation, with few words to share, only forms and some words tell.
    check(counts, {{"good talk", 4},  // of a talk in another script, and without a name
                   {"answer, start", 9},
                   {"answer, talk", 1},
                   {"assent, start", 15},
                   {"continues, start", 7},
                   {"echo, start", 16},
                   {"error, start", 40},
                   {"error_form, start", 4},
                   {"greeting, start", 8},
                   {"other, start", 16},
                   {"question, talk", 1},
                   {"refusal, start", 18},
                   {"refusal_long, start", 15}});
}

TEST_CASE("replies to recorded talks are told apart", "[digest][data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    std::vector<Text> bad = texts_of("en");
    for (Text& text : texts_of("any")) bad.push_back(std::move(text));
    std::erase_if(bad, [](const Text& text) { return is_of_talk(text) || text.kind.starts_with("good"); });
    const std::vector<Text> good = texts_of("recorded");
    Counts counts;
    for (const auto& file : recorded_files()) {
        const std::string name = file.stem().string();
        int number = 0;
        if (name.starts_with("coding")) continue;
        read_trajectories(file, {}, [&](Trajectory<>&& session) {
            if (++number > 9) return;
            Conversation<TalkMessage> talk("recorded");
            for (const TalkMessage& message : session.messages) {
                if (message_traits<TalkMessage>::role(message) != Role::system) talk.push_back(message, Usage{});
            }
            for (const Text& text : good) {
                if (text.kind == "good " + name + " " + std::to_string(number))
                    add(counts, "good", refusal_by(talk, text.text), name + ": " + text.text);
            }
            if (number > 3) return;
            for (const Text& text : bad) add(counts, text.kind, refusal_by(talk, text.text), name + ": " + text.text);
        });
    }
    check(counts, {{"good", is_soak() ? 13U : 8U}, {"continues", is_soak() ? 1U : 0U}, {"refusal_long", 2}});
}
