// Ollama with a real model: what it says of itself, what it does with a request that is too large, and what a watch and
// a chain make of that. Prints it, and checks what must hold. scripts/real_ollama starts the server. Exit code 0: all
// held.
#include "notes.hpp"

#include <whittle/http/curl_transport.hpp>
#include <whittle/openai/openai.hpp>
#include <whittle/openai/openai_chat_model.hpp>
#include <whittle/preset/presets.hpp>
#include <whittle/servers/server_facts.hpp>
#include <whittle/servers/silent_truncation.hpp>
#include <whittle/whittle.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using whittle::openai::Message;
using Json = nlohmann::ordered_json;
using OllamaModel = std::shared_ptr<whittle::Model<Message>>;

int not_held = 0;

void expect_of_ollama(bool holds, const std::string& what) {
    fmt::print("  {}: {}\n", holds ? "holds" : "DOES NOT HOLD", what);
    std::fflush(stdout);
    not_held += holds ? 0 : 1;
}

/// Keeps the reply to each path, as the server wrote it.
class Keeping final : public whittle::HttpTransport {
public:
    explicit Keeping(std::string folder) : folder_(std::move(folder)), inner_(whittle::make_curl_transport()) {}

    whittle::HttpResponse send(const whittle::HttpRequest& request, const whittle::BodySink& on_body = {}) override {
        whittle::HttpResponse response = inner_->send(request, on_body);
        if (folder_.empty() || response.status != 200) return response;
        const bool is_chat = request.url.ends_with("/completions");
        const std::string name =
            request.url.substr(request.url.rfind('/') + 1) + (is_chat ? std::to_string(++chats_) : "");
        std::ofstream(folder_ + "/ollama_" + name + ".json", std::ios::binary) << response.body;
        return response;
    }

private:
    std::string folder_;
    std::shared_ptr<whittle::HttpTransport> inner_;
    int chats_ = 0;
};

std::vector<Message> task() {
    return {Message(Json{{"role", "system"}, {"content", "You keep a gardener's notes."}}),
            Message(Json{{"role", "user"}, {"content", "The word of the day is heron. Read the notes."}})};
}

/// Two messages: the model read note `number`.
std::vector<Message> reading(int number) {
    const std::string id = fmt::format("call_{}", number);
    const Json call{{"id", id},
                    {"type", "function"},
                    {"function", {{"name", "read_note"}, {"arguments", fmt::format(R"({{"number":"{}"}})", number)}}}};
    return {Message(Json{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}}),
            Message(Json{{"role", "tool"}, {"tool_call_id", id}, {"content", real_model::note_text(number)}})};
}

std::int64_t billed_for(whittle::Model<Message>& model, std::span<const Message> messages) {
    const whittle::Reply<Message> reply = model.generate({.messages = messages});
    return reply.usage ? reply.usage->uncached_input + reply.usage->cache_read : 0;
}

/// The list grows until the bill falls: the note after which it did; 0: after none of nine.
int cut_without_a_word(const OllamaModel& model, std::int64_t window) {
    std::vector<Message> list = task();
    std::int64_t before = 0;
    for (int number = 1; number <= 9; ++number) {
        for (Message& message : reading(number)) list.push_back(std::move(message));
        const std::int64_t billed = billed_for(*model, list);
        fmt::print("  {} notes: billed {} of {}\n", number, billed, window);
        if (billed < before) return number;
        before = billed;
    }
    return 0;
}

/// The same list before the cut and behind it, watched.
bool is_seen(const OllamaModel& model, int number) {
    std::vector<Message> list = task();
    for (int i = 1; i < number; ++i) {
        for (Message& message : reading(i)) list.push_back(std::move(message));
    }
    (void)billed_for(*model, list);
    for (Message& message : reading(number)) list.push_back(std::move(message));
    try {
        (void)billed_for(*model, list);
    } catch (const whittle::ModelError& error) {
        fmt::print("  {}\n", error.what());
        return error.error_class() == whittle::ModelErrorClass::overflow;
    }
    return false;
}

struct Kept {
    std::int64_t largest = 0;  ///< bill
    bool has_task = true;
    int notes_stored = 0;
};

/// A chain that learnt the window from the server, over a watched model.
Kept keep_small(const OllamaModel& model, const whittle::ServerFacts& facts, int notes) {
    const auto store = whittle::memory_storage();
    whittle::PresetConfig config =
        preset_config(whittle::Preset::local, profile_with({.output_reserve = facts.context_window / 16}, facts));
    config.chain.storage = store;
    const whittle::Chain<Message> chain = whittle::make_chain<Message>(config);
    whittle::Conversation<Message> conversation("garden");
    for (const Message& message : task()) conversation.push_back(message);
    Kept kept;
    for (int number = 1; number <= notes; ++number) {
        for (const Message& message : reading(number)) conversation.push_back(message);
        chain.before_model(conversation);
        const std::int64_t billed = billed_for(*model, conversation.messages());
        fmt::print("  {} notes: billed {}\n", number, billed);
        kept.largest = std::max(kept.largest, billed);
        kept.has_task =
            kept.has_task && whittle::text_of(conversation.messages()[1], 0).find("heron") != std::string::npos;
    }
    store->list("garden/", [&](const whittle::ObjectInfo& info) {
        const std::string content = store->get(info.key).value_or("");
        for (int number = 1; number <= notes; ++number)
            kept.notes_stored += content == real_model::note_text(number) ? 1 : 0;
        return true;
    });
    return kept;
}

int run(const std::string& base_url, const std::string& name, const std::string& folder) {
    const auto transport = std::make_shared<Keeping>(folder);
    const whittle::ServerAddress address{.base_url = base_url, .model = name};
    whittle::OpenAIModelConfig config{.model = name, .base_url = base_url};
    config.dialect = *whittle::openai::find_dialect("ollama");
    config.max_output_tokens = 3;
    config.extra = R"({"temperature":0})";
    const OllamaModel model = std::make_shared<whittle::OpenAIChatModel>(transport, config);

    fmt::print("What it says of itself\n");
    const std::int64_t set = probe_server(*transport, address).context_window;
    const std::vector<Message> short_list = task();
    (void)billed_for(*model, short_list);
    const whittle::ServerFacts facts = probe_server(*transport, address);
    fmt::print("  {}: {} tokens of {}\n", to_string(facts.kind), facts.context_window, facts.trained_window);
    expect_of_ollama(facts.kind == whittle::ServerKind::ollama && facts.truncates_silently, "its kind is known");
    expect_of_ollama(facts.context_window > 0 && facts.context_window == set,
                     "the window is known before the model is loaded and after it");
    expect_of_ollama(facts.trained_window >= facts.context_window, "so is the window that the model was made for");

    fmt::print("A list that grows, and nobody looks\n");
    const int cut_at = cut_without_a_word(model, facts.context_window);
    expect_of_ollama(cut_at > 1, fmt::format("a request was cut in silence, at note {}", cut_at));
    if (cut_at <= 1) return 1;

    fmt::print("The same, watched\n");
    expect_of_ollama(is_seen(whittle::with_truncation_check(model), cut_at), "the cut is an overflow");

    fmt::print("With the preset local, which learnt the window\n");
    const Kept kept = keep_small(
        whittle::with_truncation_check(model, {.reported_window_tokens = facts.context_window}), facts, cut_at + 1);
    expect_of_ollama(kept.largest <= facts.context_window && kept.has_task, "each request fits and has the task");
    expect_of_ollama(kept.notes_stored > 0, fmt::format("{} notes are in the store", kept.notes_stored));
    return not_held == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc < 3) throw std::runtime_error("usage: whittle_real_ollama BASE_URL MODEL [FOLDER FOR REPLIES]");
        return run(argv[1], argv[2], argc > 3 ? argv[3] : "");
    } catch (const std::exception& error) {
        fmt::print(stderr, "whittle_real_ollama: {}\n", error.what());
        return 2;
    }
}
