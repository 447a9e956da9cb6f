// Processes that write to a store and are killed at a random moment, and what must be there then.
#pragma once

#include "support/sanitized.hpp"
#include "support/soak.hpp"
#include "support/storage_tools.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace whittle::testing {

/// A fork copies the sanitizer's tables, which takes most of a run's time.
constexpr int usual_kills = is_sanitized ? 40 : 200;
constexpr int kills_of_a_soak = 2'000;

/// WHITTLE_KILLS and WHITTLE_SEED ask for other numbers.
inline int number_from(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text ? std::atoi(text) : otherwise;
}

inline int kills_in_a_test() { return number_from("WHITTLE_KILLS", is_soak() ? kills_of_a_soak : usual_kills); }

/// In a child: ends it here, whatever happens. An exception that reached Catch would delete the parent's files.
template <typename Work>
[[noreturn]] void leave_after(Work&& child_work) {
    try {
        child_work();
    } catch (...) {
        ::_exit(202);
    }
    ::_exit(203);
}

/// Each writer works below `run<its number>/`: puts, streams, and removes in turn.
class KilledWriters {
public:
    /// `open` opens the store, which all share, in the child `run`.
    explicit KilledWriters(std::function<std::shared_ptr<Storage>(int run)> open) : open_(std::move(open)) {}

    /// Lets a child work and kills it at a random moment.
    void kill_one() {
        const int run = static_cast<int>(acknowledged_.size());
        std::array<int, 2> pipe{};
        REQUIRE(::pipe(pipe.data()) == 0);
        const pid_t child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::close(pipe[0]);
            leave_after([&] { work(run, pipe[1]); });
        }
        ::close(pipe[1]);
        int acknowledged = 0;
        char mark = 0;
        const int first = static_cast<int>(random_() % 12);
        while (acknowledged < first && ::read(pipe[0], &mark, 1) == 1) ++acknowledged;
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % 3'000));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (::read(pipe[0], &mark, 1) == 1) ++acknowledged;
        ::close(pipe[0]);
        acknowledged_.push_back(acknowledged);
    }

    void check_last(Storage& storage) const { check_run(storage, static_cast<int>(acknowledged_.size()) - 1); }

    /// All runs again, and that some did something.
    void check_all(Storage& storage) const {
        CHECK(std::count(acknowledged_.begin(), acknowledged_.end(), 0) <
              static_cast<std::ptrdiff_t>(acknowledged_.size()));
        for (std::size_t run = 0; run < acknowledged_.size(); ++run) check_run(storage, static_cast<int>(run));
    }

private:
    /// What the child does in step `step` of `run`: a function of both alone, so that the parent knows it.
    struct Step {
        std::string key{};
        std::string content{};
        bool removes = false;
    };

    static std::string content_for(const std::string& key, std::mt19937& random) {
        const std::size_t bytes = 10 + (random() & ((std::size_t{1} << (random() % 17)) - 1));
        std::string content(bytes, key.back());
        content.replace(0, std::min(bytes, key.size()), key, 0, bytes);
        return content;
    }

    static Step step_of(int run, int step) {
        const bool removes = step % 8 == 7;
        const int made = removes ? step - 3 : step;
        std::mt19937 random(static_cast<unsigned>(run * 10'007 + made));
        const std::string key = "run" + std::to_string(run) + "/" + std::to_string(made);
        Step found{.key = key, .content = content_for(key, random), .removes = removes};
        if (made % 8 == 5 && run % 16 == 0) found.content.resize(2'300'000, 'L');  // streamed in several pieces
        return found;
    }

    /// Works until it is killed; one byte to `acknowledge` after each step.
    [[noreturn]] void work(int run, int acknowledge) const {
        const auto storage = open_(run);
        for (int at = 0;; ++at) {
            const Step step = step_of(run, at);
            if (step.removes) {
                (void)storage->remove(step.key);
            } else if (at % 2 == 0) {
                storage->put_if_absent(step.key, step.content);
            } else {
                const auto writer = storage->open_writer();
                writer->write(step.content.substr(0, step.content.size() / 2));
                writer->write(step.content.substr(step.content.size() / 2));
                writer->commit(step.key);
            }
            if (::write(acknowledge, "+", 1) != 1) ::_exit(1);
        }
    }

    /// What must be there after `acknowledged` steps; the step after them may have happened or not.
    static std::map<std::string, std::string> expected_after(int run, int acknowledged) {
        std::map<std::string, std::string> expected;
        for (int at = 0; at < acknowledged; ++at) {
            const Step step = step_of(run, at);
            if (step.removes) {
                expected.erase(step.key);
            } else {
                expected[step.key] = step.content;
            }
        }
        return expected;
    }

    void check_run(Storage& storage, int run) const {
        const int acknowledged = acknowledged_[static_cast<std::size_t>(run)];
        std::map<std::string, std::string> expected = expected_after(run, acknowledged);
        const Step open = step_of(run, acknowledged);
        for (const std::string& key : keys_below(storage, "run" + std::to_string(run) + "/")) {
            const auto found = storage.get(key);  // throws for a torn object
            const bool whole =
                key == open.key ? found == open.content : expected.contains(key) && found == expected[key];
            if (!whole) FAIL("wrong object " << key);
            expected.erase(key);
        }
        if (open.removes) expected.erase(open.key);
        for (const auto& [key, content] : expected)
            FAIL_CHECK("lost object " << key << ", " << content.size() << " bytes");
    }

    std::function<std::shared_ptr<Storage>(int)> open_;
    std::mt19937 random_{static_cast<unsigned>(number_from("WHITTLE_SEED", 1))};
    std::vector<int> acknowledged_;
};

}  // namespace whittle::testing
