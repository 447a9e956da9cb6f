// What does reading agents' logs cost beside parsing their lines as JSON?
// bench_logs FILE...: JSON Lines of an agent; `bench/scan.py --logs FOLDER MEGABYTES` writes some. Each file is read
// once before it is timed, then as often as gives 0.3 s; MB/s of the best, in processor time.
#include <tool/logs/logs.hpp>
#include <whittle/base/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

using namespace whittle;

namespace {

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double best_of(auto&& work) {
    double best = 1e9;
    double all = 0;
    work();
    while (all < 0.3) {
        const double start = processor_seconds();
        work();
        const double took = processor_seconds() - start;
        best = std::min(best, took);
        all += took;
    }
    return best;
}

std::size_t parse_lines(const std::string& text) {
    std::size_t values = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const auto json =
            nlohmann::ordered_json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                          text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        values += json.is_discarded() ? 0 : json.size();
        begin = end + 1;
    }
    return values;
}

std::size_t read_sessions(const std::string& text, logs::Format format, const std::string& name) {
    std::istringstream in(text);
    std::size_t messages = 0;
    const logs::LogOptions options{.name = name};
    static_cast<void>(logs::read_log(in, format, options,
                                     [&](logs::Session&& session) { messages += session.recording.messages.size(); }));
    return messages;
}

void measure(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto format = logs::recognise(std::string_view(text).substr(0, 64 << 10));
    if (!format) throw Error(Errc::invalid_argument, fmt::format("read {}: no log of an agent", name));
    std::size_t messages = 0;
    std::size_t values = 0;
    const double reading = best_of([&] { messages = read_sessions(text, *format, name); });
    const double parsing = best_of([&] { values = parse_lines(text); });
    if (messages == 0 || values == 0) throw Error(Errc::invalid_argument, fmt::format("read {}: it is empty", name));
    const double megabytes = static_cast<double>(text.size()) / 1e6;
    fmt::print("{:<14} {:>8.1f} {:>9} {:>9.0f} {:>9.0f} {:>7.2f}\n", logs::to_string(*format), megabytes, messages,
               megabytes / reading, megabytes / parsing, reading / parsing);
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    fmt::print("{:<14} {:>8} {:>9} {:>9} {:>9} {:>7}\n", "format", "MB", "messages", "read MB/s", "JSON MB/s", "ratio");
    try {
        for (int i = 1; i < argc; ++i) measure(argv[i]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
