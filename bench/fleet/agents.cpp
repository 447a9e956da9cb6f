#include "agents.hpp"

#include <whittle/base/error.hpp>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <random>
#include <thread>
#include <utility>

namespace whittle::bench {
namespace {

constexpr int tries_of_an_object = 20;

std::string notes_of(const Fleet& fleet, int agent) { return fmt::format("{}/agent-{}", fleet.folder, agent); }
std::string key_of(int agent, int object) { return fmt::format("agent-{}/{:06}", agent, object); }

/// 200 bytes to 64 KiB; a function of both, so that everybody knows it.
std::string content_of(int agent, int object) {
    std::mt19937 random(static_cast<unsigned>(agent * 1'000'003 + object));
    const std::size_t bytes = 200 + (random() & ((std::size_t{1} << (8 + random() % 9)) - 1));
    return std::string(bytes, static_cast<char>('a' + object % 26)).replace(0, 20, fmt::format("{:20}", random()));
}

std::int64_t microseconds_of(const auto& work) {
    const auto begun = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count();
}

/// Lines: "put <microseconds>", "get <microseconds>", "refused <reason>", "lost <object>", and "kept <object> <tries>".
class Agent {
public:
    Agent(const Fleet& fleet, Storage& storage, int number)
        : fleet_(fleet), storage_(storage), number_(number), notes_(notes_of(fleet, number)) {}

    void run() {
        for (int object = 0; object < fleet_.objects; ++object) {
            store(object);
            if (object % 5 == 4) read(object / 2);
        }
    }

private:
    void store(int object) {
        const std::string content = content_of(number_, object);
        for (int tried = 1; tried <= tries_of_an_object; ++tried) {
            bool is_kept = false;
            const std::int64_t taken = microseconds_of([&] { is_kept = put(object, content); });
            notes_ << "put " << taken << '\n';
            if (!is_kept) continue;
            notes_ << "kept " << object << ' ' << tried << '\n';
            return;
        }
    }

    bool put(int object, const std::string& content) {
        try {
            storage_.put_if_absent(key_of(number_, object), content);
            return true;
        } catch (const Error& error) {
            notes_ << "refused " << error.what() << '\n';
            return false;
        }
    }

    void read(int object) {
        const std::int64_t taken = microseconds_of([&] {
            try {
                (void)storage_.get(key_of(number_, object));
            } catch (const Error& error) {
                notes_ << "refused " << error.what() << '\n';
            }
        });
        notes_ << "get " << taken << '\n';
    }

    const Fleet& fleet_;
    Storage& storage_;
    int number_;
    std::ofstream notes_;
};

[[noreturn]] void be_process(const Fleet& fleet, int process) {
    int status = 0;
    try {
        const auto storage = fleet.open();
        std::vector<std::thread> agents;
        for (int i = 0; i < agents_in_each; ++i)
            agents.emplace_back([&, i] { Agent(fleet, *storage, process * agents_in_each + i).run(); });
        for (std::thread& agent : agents) agent.join();
    } catch (const std::exception& error) {
        fmt::print(stderr, "process {}: {}\n", process, error.what());
        status = 1;
    }
    ::_exit(status);
}

/// What differs from one refusal to the next is left out: what is quoted, and numbers.
std::string without_details(const std::string& text) {
    std::string kept;
    bool is_quoted = false;
    for (const char c : text) {
        is_quoted ^= c == '"';
        const bool is_digit = c >= '0' && c <= '9';
        if (is_quoted || (is_digit && kept.ends_with('#'))) continue;
        kept += is_digit ? '#' : c;
    }
    return kept;
}

void read_line(FleetNotes& notes, std::vector<bool>& kept, const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string what = line.substr(0, space), rest = line.substr(space + 1);
    if (what == "put") notes.puts.push_back(std::stoll(rest));
    if (what == "get") notes.gets.push_back(std::stoll(rest));
    if (what == "kept") {
        kept[std::stoul(rest)] = true;
        notes.taken_later += rest.ends_with(" 1") ? 0 : 1;
    }
    if (what == "refused") {
        ++notes.refused;
        ++notes.reasons[without_details(rest)];
    }
}

}  // namespace

std::vector<int> start_fleet(const Fleet& fleet) {
    std::fflush(nullptr);
    std::vector<int> children;
    for (int process = 0; process < fleet_processes; ++process) {
        const pid_t child = ::fork();
        if (child == 0) be_process(fleet, process);
        children.push_back(child);
    }
    return children;
}

bool wait_for_fleet(const std::vector<int>& children) {
    bool well = true;
    for (const pid_t child : children) {
        int status = 0;
        well &= ::waitpid(child, &status, 0) == child && status == 0;
    }
    return well;
}

FleetNotes read_notes(const Fleet& fleet) {
    FleetNotes notes;
    for (int agent = 0; agent < fleet_processes * agents_in_each; ++agent) {
        std::vector<bool> kept(static_cast<std::size_t>(fleet.objects));
        std::ifstream in(notes_of(fleet, agent));
        for (std::string line; std::getline(in, line);) read_line(notes, kept, line);
        notes.acknowledged.push_back(std::move(kept));
    }
    return notes;
}

std::int64_t count_lost(const Fleet& fleet, Storage& storage, const FleetNotes& notes) {
    std::int64_t lost = 0;
    for (int agent = 0; agent < fleet_processes * agents_in_each; ++agent) {
        for (int object = 0; object < fleet.objects; ++object) {
            if (!notes.acknowledged[static_cast<std::size_t>(agent)][static_cast<std::size_t>(object)]) continue;
            const auto found = storage.get(key_of(agent, object));
            if (found == content_of(agent, object)) continue;
            ++lost;
            fmt::print(stderr, "{} is {}\n", key_of(agent, object), found ? "another content" : "absent");
        }
    }
    return lost;
}

}  // namespace whittle::bench
