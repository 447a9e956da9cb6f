// One talk three times, with a real model in the process: with nobody who keeps it within the window, with a cutter
// that leaves out the oldest rounds, and with whittle. Prints what each call made the model read, and checks that it is
// what the KV cache really did. scripts/real_llama runs it. Exit code 0: all of it held.
#include "talk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>
#include <string_view>

namespace {

using llama_cpp::Keeper;
using llama_cpp::Step;
using llama_cpp::Talk;

struct Options {
    std::string weights{};
    std::string window = "2048";
    std::string threads = "2";
    std::string questions = "12";
};

Options parse(int argc, char** argv) {
    Options options;
    const std::map<std::string_view, std::string*> known{{"--weights", &options.weights},
                                                         {"--window", &options.window},
                                                         {"--threads", &options.threads},
                                                         {"--questions", &options.questions}};
    for (int i = 1; i < argc; i += 2) {
        const auto found = known.find(argv[i]);
        if (found == known.end() || i + 1 == argc) throw std::runtime_error(fmt::format("bad argument {}", argv[i]));
        *found->second = argv[i + 1];
    }
    if (options.weights.empty())
        throw std::runtime_error(
            "usage: whittle_llama_cpp --weights FILE.gguf [--window TOKENS] [--threads N] [--questions N]");
    return options;
}

/// Counts what did not hold.
class Checks {
public:
    void expect(bool holds, std::string_view what) {
        fmt::print("  {}: {}\n", holds ? "holds" : "DOES NOT HOLD", what);
        (holds ? passed_ : failed_) += 1;
    }
    [[nodiscard]] int passed() const noexcept { return passed_; }
    [[nodiscard]] int failed() const noexcept { return failed_; }

private:
    int passed_ = 0;
    int failed_ = 0;
};

/// What was planned, and what llama.cpp says of its cache and of its work.
bool is_what_happened(const Step& step) {
    const llama_cpp::Prefill& prefill = step.call.prefill;
    const std::size_t size = step.call.prompt.size();
    return prefill.kept + prefill.read == size && prefill.cells_before == prefill.kept && prefill.cells_after == size &&
           prefill.evaluated == prefill.read;
}

void print(const Talk& talk) {
    fmt::print("  question  prompt    kept    read      ms  predicted  written      ms\n");
    std::size_t read = 0;
    double read_ms = 0.0;
    double write_ms = 0.0;
    for (const Step& step : talk.steps) {
        const llama_cpp::Prefill& prefill = step.call.prefill;
        fmt::print("  {:8}  {:6}  {:6}  {:6}  {:6.0f}  {:9}  {:7}  {:6.0f}\n", step.question, step.call.prompt.size(),
                   prefill.kept, prefill.read, prefill.ms, step.predicted, step.call.output_tokens,
                   step.call.output_ms);
        read += prefill.read;
        read_ms += prefill.ms;
        write_ms += step.call.output_ms;
    }
    fmt::print("  {} calls read {} tokens in {:.1f} s and wrote for {:.1f} s; {} requests were refused, unread\n",
               talk.steps.size(), read, read_ms / 1'000, write_ms / 1'000, talk.refused);
    if (!talk.failure.empty()) fmt::print("  question {} failed: {}\n", talk.answered + 1, talk.failure);
}

void check_cache(const Talk& talk, Checks& checks) {
    const auto right = std::ranges::count_if(talk.steps, is_what_happened);
    const auto predicted =
        std::ranges::count_if(talk.steps, [](const Step& step) { return step.predicted == step.call.prefill.read; });
    checks.expect(static_cast<std::size_t>(right) == talk.steps.size(),
                  fmt::format("{} of {} prefills are what the KV cache did, by its positions and its counters", right,
                              talk.steps.size()));
    checks.expect(static_cast<std::size_t>(predicted) == talk.steps.size(),
                  fmt::format("{} of {} prefills were predicted to the token", predicted, talk.steps.size()));
}

int run(const Options& options) {
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    const auto weights = std::make_shared<const llama_cpp::Weights>(options.weights);
    const llama_cpp::SlotOptions slot{.window = std::stoi(options.window), .threads = std::stoi(options.threads)};
    const int questions = std::stoi(options.questions);
    fmt::print("{}, a window of {} tokens, {} questions\n", weights->name(), slot.window, questions);
    Checks checks;
    const auto run_talk = [&](std::string_view title, Keeper keeper) {
        fmt::print("{}\n", title);
        std::fflush(stdout);
        const Talk talk = talk_about_notes(weights, slot, questions, keeper);
        print(talk);
        check_cache(talk, checks);
        return talk;
    };
    const Talk alone = run_talk("Without whittle", Keeper::nobody);
    checks.expect(
        alone.answered < questions && alone.refused > 0,
        fmt::format("it ends behind question {}: the next request is known to be too large, unread", alone.answered));
    const Talk cut =
        run_talk("Without whittle, the oldest rounds left out where a request is too large", Keeper::cutter);
    checks.expect(cut.answered == questions, "all questions were answered");
    const Talk kept = run_talk("With whittle, preset local", Keeper::whittle);
    checks.expect(kept.answered == questions, "all questions were answered");
    checks.expect(kept.refused == 0, "no request was refused");
    checks.expect(kept.violations == 0 && kept.is_restored,
                  "the list is valid, and undoing gives every note back, byte for byte");
    fmt::print("  learnt: a token that stays costs {:.3f} of one that is read\n", kept.learnt.read);
    fmt::print("{} checks held, {} did not\n", checks.passed(), checks.failed());
    return checks.failed() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(parse(argc, argv));
    } catch (const std::exception& error) {
        fmt::print(stderr, "whittle_llama_cpp: {}\n", error.what());
        return 2;
    }
}
