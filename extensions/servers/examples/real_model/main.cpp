// Does with a real language model what the tests do with its recordings, prints what came of it, and checks what must
// hold whatever the model writes. scripts/real_model starts the server. Exit code 0: all of it held.
#include "notes.hpp"
#include "plans.hpp"
#include "recording.hpp"
#include "scenarios.hpp"

#include <whittle/http/curl_transport.hpp>
#include <whittle/openai/openai_chat_model.hpp>
#include <whittle/servers/server_tokens.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>

namespace {

using real_model::Call;
using real_model::Scoring;
using real_model::Server;
using real_model::Talk;

struct Options {
    std::string base_url{};
    std::string model{};     ///< the agent's
    std::string logprobs{};  ///< the same, with log-probabilities
    std::string marked{};    ///< the same, with a start mark in front of a prompt
    std::string dialect = "llama_cpp";
    std::string calls = "tool_choice";  ///< how a call is demanded: tool_choice or json_schema
    std::string prefix{};               ///< of the recordings' names
    std::string server{};               ///< what answers, for the recordings
    std::string record{};               ///< folder for recordings; empty: none
    std::string timings = "no";         ///< "yes": the server tells timings and tokens, as llama-server does
};

Options parse(int argc, char** argv) {
    Options options;
    const std::map<std::string, std::string*> known{{"--base-url", &options.base_url}, {"--model", &options.model},
                                                    {"--logprobs", &options.logprobs}, {"--marked", &options.marked},
                                                    {"--server", &options.server},     {"--record", &options.record},
                                                    {"--dialect", &options.dialect},   {"--calls", &options.calls},
                                                    {"--prefix", &options.prefix},     {"--timings", &options.timings}};
    for (int i = 1; i < argc; i += 2) {
        const auto found = known.find(argv[i]);
        if (found == known.end() || i + 1 == argc) throw std::runtime_error(fmt::format("bad argument {}", argv[i]));
        *found->second = argv[i + 1];
    }
    if (options.base_url.empty() || options.model.empty())
        throw std::runtime_error(
            "usage: whittle_real_model --base-url URL --model NAME [--logprobs NAME] [--marked NAME] "
            "[--server TEXT] [--record DIR] [--timings yes]");
    return options;
}

/// Counts what did not hold.
class Checks {
public:
    void expect(bool holds, std::string_view what) {
        fmt::print("  {}: {}\n", holds ? "holds" : "DOES NOT HOLD", what);
        failed_ += holds ? 0 : 1;
        passed_ += holds ? 1 : 0;
    }
    [[nodiscard]] int passed() const noexcept { return passed_; }
    [[nodiscard]] int failed() const noexcept { return failed_; }

private:
    int passed_ = 0;
    int failed_ = 0;
};

std::string one_line(std::string text, std::size_t most = 160) {
    for (char& c : text) c = c == '\n' ? ' ' : c;
    if (text.size() > most) text = std::string(whittle::grapheme_prefix(text, most)) + "...";
    return text;
}

bool is_overflow(const Call& call) { return call.failure == whittle::ModelErrorClass::overflow; }

void print_calls(const Talk& talk) {
    for (std::size_t i = 0; i < talk.calls.size(); ++i) {
        const Call& call = talk.calls[i];
        const std::string who = call.purpose.empty() ? "agent" : call.purpose;
        if (is_overflow(call)) {
            fmt::print("  call {} ({}): refused: window {}, request {}\n", i + 1, who,
                       call.overflow.context_limit_tokens, call.overflow.requested_tokens);
        } else if (call.failure) {
            fmt::print("  call {} ({}): failed: {}\n", i + 1, who, one_line(call.text));
        } else {
            fmt::print("  call {} ({}): prompt of {} tokens: {}\n", i + 1, who, call.prompt_tokens,
                       call.text.empty() ? "a tool call" : one_line(call.text, 100));
        }
    }
    for (const real_model::Recovery& recovery : talk.recoveries)
        fmt::print("  recovery: {} -> {} tokens by our count\n    {}\n", recovery.tokens_before, recovery.tokens_after,
                   one_line(recovery.report, 400));
    for (const std::string& verdict : talk.verdicts) fmt::print("  summary: {}\n", verdict);
    for (const std::string& event : talk.events) fmt::print("  event: {}\n", one_line(event, 300));
    for (const whittle::RunResult& run : talk.runs) {
        if (!run.error.empty()) fmt::print("  run failed: {}\n", one_line(run.error, 300));
    }
}

/// What holds whatever the model says: each refusal of the agent's request is followed by a reply to a smaller one.
void check_recovery(const Talk& talk, Checks& checks) {
    std::size_t refused = 0;
    std::size_t recovered = 0;
    std::vector<const Call*> own;
    for (const Call& call : talk.calls) {
        if (call.purpose.empty()) own.push_back(&call);
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (!is_overflow(*own[i])) continue;
        ++refused;
        const bool is_smaller = i + 1 < own.size() && !own[i + 1]->failure &&
                                own[i + 1]->prompt_tokens < own[i]->overflow.context_limit_tokens;
        if (is_smaller) ++recovered;
    }
    bool is_answered = true;
    for (const whittle::RunResult& run : talk.runs) is_answered &= run.outcome == whittle::RunOutcome::answered;
    checks.expect(refused > 0, fmt::format("the window overflowed ({} times)", refused));
    checks.expect(recovered == refused, "each refused request was recovered and answered");
    checks.expect(is_answered, fmt::format("all {} questions were answered", talk.runs.size()));
    checks.expect(talk.window > 0, fmt::format("the chain learnt the window ({} tokens)", talk.window));
    checks.expect(talk.violations.empty(), "the history is valid at the end");
}

void check_summaries(const Talk& talk, Checks& checks) {
    std::size_t asked = 0;
    for (const Call& call : talk.calls) asked += call.purpose.empty() ? 0 : 1;
    checks.expect(asked > 0, fmt::format("the model was asked for summaries ({} calls)", asked));
    checks.expect(!talk.verdicts.empty(), "each attempt was accepted or refused, with a reason");
}

void print_scoring(const Scoring& scoring) {
    if (scoring.perplexity > 0.0)
        fmt::print("  perplexity of the sample {:.1f}, of its words in another order {:.1f}\n", scoring.perplexity,
                   scoring.perplexity_mixed);
    fmt::print("  self-check: {}\n", scoring.is_aligned ? "passed" : "refused: " + scoring.refusal);
    fmt::print("  half of the words, by {}:\n    {}\n",
               scoring.is_aligned ? "the model" : "the heuristic that took over", scoring.kept);
}

void check_scoring(const Scoring& scoring, Checks& checks) {
    checks.expect(scoring.is_aligned || !scoring.refusal.empty(), "the log-probabilities passed or were refused");
    checks.expect(scoring.kept.size() < real_model::sample_text().size(), "words were dropped");
    if (scoring.is_aligned)
        checks.expect(scoring.perplexity < scoring.perplexity_mixed, "English is less surprising than its words mixed");
}

/// The server reads what was predicted, to the token.
void check_prefills(const std::vector<real_model::Exchange>& exchanges, std::size_t calls, Checks& checks) {
    const std::vector<real_model::Prefill> prefills = real_model::prefills_of(exchanges);
    std::size_t right = 0;
    double read_ms = 0.0;
    double write_ms = 0.0;
    for (const real_model::Prefill& prefill : prefills) {
        fmt::print("  prefill: predicted {}, read {}, kept {}, {:.0f} ms; {} tokens written in {:.0f} ms\n",
                   prefill.predicted, prefill.timing.prefill_tokens, prefill.timing.cached_tokens,
                   prefill.timing.prefill_ms, prefill.timing.output_tokens, prefill.timing.output_ms);
        right += static_cast<std::int64_t>(prefill.predicted) == prefill.timing.prefill_tokens ? 1 : 0;
        read_ms += prefill.timing.prefill_ms;
        write_ms += prefill.timing.output_ms;
    }
    fmt::print("  {:.1f} s of reading, {:.1f} s of writing\n", read_ms / 1'000, write_ms / 1'000);
    checks.expect(prefills.size() == calls && right == calls,
                  fmt::format("{} of {} prefills were predicted", right, calls));
}

/// "http://127.0.0.1:8080/v1" -> "http://127.0.0.1:8080"
std::string host_of(std::string_view base_url) {
    return std::string(base_url.substr(0, base_url.find('/', base_url.find("://") + 3)));
}

class Session {
public:
    explicit Session(Options options)
        : options_(std::move(options)),
          transport_(std::make_shared<real_model::RecordingTransport>(whittle::make_curl_transport())) {}

    int run() {
        if (options_.timings == "yes") talk_timed();
        if (options_.timings == "yes") learn();
        for (const real_model::TalkPlan& plan : real_model::plans) talk(plan);
        score("logprobs", options_.logprobs);
        score("logprobs_marked", options_.marked);
        fmt::print("{} checks held, {} did not\n", checks_.passed(), checks_.failed());
        return checks_.failed() == 0 ? 0 : 1;
    }

private:
    void talk(const real_model::TalkPlan& plan) {
        fmt::print("{} ({})\n", plan.title, plan.name);
        std::fflush(stdout);
        const Talk talk = execute_retention(plan, server(options_.model));
        print_calls(talk);
        check_recovery(talk, checks_);
        if (plan.summary_tokens > 0) check_summaries(talk, checks_);
        keep(plan.name, transport_->take());
    }

    /// The first of all: the server keeps nothing of another conversation then.
    void talk_timed() {
        const real_model::TalkPlan& plan = real_model::local_plan;
        fmt::print("{} ({})\n", plan.title, plan.name);
        std::fflush(stdout);
        transport_ = std::make_shared<real_model::RecordingTransport>(whittle::make_curl_transport(),
                                                                      host_of(options_.base_url));
        const Talk talk = execute_retention(plan, server(options_.model));
        print_calls(talk);
        std::vector<real_model::Exchange> exchanges = transport_->take();
        check_prefills(exchanges, talk.calls.size(), checks_);
        checks_.expect(talk.recoveries.empty(), "no request was refused");
        checks_.expect(talk.violations.empty(), "the history is valid at the end");
        keep(plan.name, std::move(exchanges));
        transport_ = std::make_shared<real_model::RecordingTransport>(whittle::make_curl_transport());
    }

    /// What the server says of itself is what it does.
    void learn() {
        using whittle::openai::Message;
        fmt::print("What the server says of itself\n");
        std::fflush(stdout);
        const std::shared_ptr<whittle::HttpTransport> transport = whittle::make_curl_transport();
        const whittle::ServerAddress address{.base_url = options_.base_url, .model = options_.model};
        const whittle::ServerFacts facts = probe_server(*transport, address);
        fmt::print("  {}: {} tokens of {}, {} slots\n", to_string(facts.kind), facts.context_window,
                   facts.trained_window, facts.slots);
        checks_.expect(facts.kind == whittle::ServerKind::llama_server && facts.context_window == 2'048,
                       "kind and window are learnt");
        checks_.expect(facts.renders_tools == false, "its template is known to render no tools");
        whittle::OpenAIModelConfig config{.model = options_.model, .base_url = options_.base_url};
        config.dialect = *whittle::openai::find_dialect("llama_cpp");
        config.max_output_tokens = 4;
        config.extra = whittle::pinned_to_slot(R"({"temperature":0})", 0);
        whittle::OpenAIChatModel model(transport, config);
        const auto counter = server_counter(transport, address, facts.kind);
        std::vector<Message> talk;
        std::size_t right = 0;
        for (int i = 1; i <= 3; ++i) {
            talk.push_back(whittle::message_traits<Message>::make(whittle::Role::user, real_model::note_text(i)));
            const auto counted = count_request(*transport, address, facts.kind, {.messages = talk});
            whittle::Reply<Message> reply = model.generate({.messages = talk});
            std::int64_t ours = 0;
            for (const Message& message : talk) ours += count_message(message, *counter);
            const std::int64_t billed = reply.usage->uncached_input + reply.usage->cache_read;
            fmt::print("  counted {} with the template, {} by message; billed {}, of which {} were kept\n",
                       counted.value_or(0), ours, billed, reply.usage->cache_read);
            right += counted == billed ? 1 : 0;
            talk.push_back(std::move(reply.message));
        }
        checks_.expect(right == 3, fmt::format("{} of 3 requests were counted as they were billed", right));
    }

    void score(std::string_view name, const std::string& model) {
        if (model.empty()) return;
        fmt::print("Log-probabilities of {} ({})\n", model, name);
        std::fflush(stdout);
        const Scoring scoring = real_model::score_sample(server(model));
        print_scoring(scoring);
        check_scoring(scoring, checks_);
        keep(name, transport_->take());
    }

    [[nodiscard]] Server server(const std::string& model) const {
        return {transport_, options_.base_url, model, options_.dialect, options_.calls == "tool_choice"};
    }

    void keep(std::string_view name, std::vector<real_model::Exchange> exchanges) {
        if (options_.record.empty()) return;
        const std::filesystem::path file =
            std::filesystem::path(options_.record) / fmt::format("{}{}.json", options_.prefix, name);
        real_model::save({options_.server, std::move(exchanges)}, file);
        fmt::print("  recorded in {}\n", file.string());
    }

    Options options_;
    std::shared_ptr<real_model::RecordingTransport> transport_;
    Checks checks_{};
};

}  // namespace

int main(int argc, char** argv) {
    try {
        return Session(parse(argc, argv)).run();
    } catch (const std::exception& error) {
        fmt::print(stderr, "whittle_real_model: {}\n", error.what());
        return 2;
    }
}
