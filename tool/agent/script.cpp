#include "script.hpp"

#include "enum_list.hpp"
#include "request_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace agent {
namespace {

using whittle::openai::Message;
using Json = nlohmann::ordered_json;

constexpr std::size_t min_files = 40;
constexpr std::size_t wanted_bytes = 640'000;  // of the files in the plan: with the commands more than 150k tokens
constexpr std::size_t files_at_first = 12;     // read three at a time, then one by one
constexpr std::size_t max_file_bytes = 40'000;
constexpr std::string_view plan_start = "Plan.";

struct Call {
    std::string tool;
    Json arguments;
};

Message reply(const RequestView& view, std::string text, const std::vector<Call>& calls = {}) {
    Json message{{"role", "assistant"}, {"content", text.empty() ? Json() : Json(std::move(text))}};
    std::size_t number = view.calls.size();
    for (const Call& call : calls) {
        message["tool_calls"].push_back({{"id", fmt::format("call_{}", ++number)},
                                         {"type", "function"},
                                         {"function", {{"name", call.tool}, {"arguments", call.arguments.dump()}}}});
    }
    return Message(std::move(message));
}

Call read(const std::string& path) { return {"read_file", {{"path", path}}}; }
Call read_back(const std::string& reference) { return {"read_offloaded", {{"reference", reference}}}; }
Call run(const std::string& command) { return {"run_command", {{"command", command}}}; }

// The plan is made once, from the first results, and kept in the model's own reply.

struct Listed {
    std::size_t bytes = 0;
    std::string path{};
};

bool is_text(std::string_view path) {
    constexpr std::string_view endings[] = {".hpp", ".cpp", ".h", ".cc", ".md", ".cmake", ".txt", ".sh"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

/// The lines "size  path" of list_files, largest first.
std::vector<Listed> read_listing(const std::string& result) {
    std::vector<Listed> files;
    for (const std::string& line : lines_of(result)) {
        const std::string_view text = trimmed(line);
        Listed file;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), file.bytes);
        if (error != std::errc()) continue;
        file.path = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
        if (is_text(file.path) && file.bytes <= max_file_bytes) files.push_back(std::move(file));
    }
    std::ranges::stable_sort(files, std::ranges::greater{}, &Listed::bytes);
    return files;
}

std::string quoted_in(const std::string& task) {
    const std::size_t open = task.find('`');
    const std::size_t close = open == std::string::npos ? open : task.find('`', open + 1);
    return close == std::string::npos ? std::string() : task.substr(open + 1, close - open - 1);
}

/// The header that declares the enumeration, from hits "path:line: text"; one below include/ if there is any.
std::string header_in(const std::string& hits, const std::string& enum_name) {
    std::string header;
    for (const std::string& hit : lines_of(hits)) {
        const std::string path = hit.substr(0, hit.find(':'));
        if (!path.ends_with(".hpp") || hit.find(": enum class " + enum_name + " ") == std::string::npos) continue;
        if (path.starts_with("include/")) return path;
        if (header.empty()) header = path;
    }
    return header;
}

std::string make_plan(const std::vector<Listed>& files, const std::string& header) {
    std::string plan = fmt::format("{} The values are declared in\n{}\nI read it first, then the code around it:\n",
                                   plan_start, header);
    std::size_t bytes = 0;
    std::size_t count = 0;
    for (const Listed& file : files) {
        if (file.path == header) continue;
        if (count >= min_files && bytes >= wanted_bytes) break;
        plan += file.path + "\n";
        bytes += file.bytes;
        ++count;
    }
    return plan;
}

struct Plan {
    std::string header{};
    std::vector<std::string> files{};
};

std::optional<Plan> read_plan(const RequestView& view) {
    const std::vector<std::string> lines = lines_of(view.reply_with(plan_start));
    if (lines.size() < 3) return std::nullopt;
    return Plan{lines[1], {lines.begin() + 3, lines.end()}};
}

// What the model does, in the order of its work: each function gives nothing once its part is done.

std::optional<Message> explore(const RequestView& view, const std::string& enum_name) {
    if (!view.calls.empty()) return std::nullopt;
    return reply(view, "First I look where things are.",
                 {{"list_files", {{"path", "."}}}, {"grep", {{"pattern", "enum class " + enum_name}}}});
}

std::optional<Message> start_plan(const RequestView& view, const std::string& enum_name) {
    if (read_plan(view)) return std::nullopt;
    const std::string header = header_in(view.calls.at(1).result, enum_name);
    if (header.empty()) return reply(view, fmt::format("Not done: no file declares `enum class {}`.", enum_name));
    return reply(view, make_plan(read_listing(view.calls.at(0).result), header),
                 {read(header), run("git status --short && git log --oneline | head -n 20")});
}

std::optional<Message> survey(const RequestView& view, const Plan& plan) {
    std::vector<Call> calls;
    for (std::size_t i = 0; i < plan.files.size(); ++i) {
        const std::size_t at_once = i < files_at_first ? 3 : 1;
        if (view.find("read_file", "path", plan.files[i]) != nullptr) continue;
        if (calls.size() < at_once) calls.push_back(read(plan.files[i]));
    }
    if (calls.empty()) return std::nullopt;
    return reply(view, "", calls);
}

std::string uses_command(const std::string& enum_name) {
    return fmt::format("grep -rnw --include='*.hpp' --include='*.cpp' {} .", enum_name);
}

std::optional<Message> find_with_shell(const RequestView& view, const std::string& enum_name) {
    const std::string commands[] = {
        uses_command(enum_name),
        "find . -name '*.hpp' -o -name '*.cpp' | grep -v '^./.git/' | xargs wc -l | sort -rn | head -n 60",
        fmt::format("grep -rn 'case {}::' --include='*.cpp' . | head -n 100", enum_name),
        "git show --stat HEAD | tail -n 40",
        "c++ --version | head -n 1",
    };
    for (const std::string& command : commands) {
        if (view.find("run_command", "command", command) == nullptr) return reply(view, "", {run(command)});
    }
    return std::nullopt;
}

/// Of a long output only head and tail came: what matters of the rest is found by a search in the stored text.
std::optional<Message> search_the_uses(const RequestView& view, const std::string& enum_name) {
    const SeenCall* uses = view.find("run_command", "command", uses_command(enum_name));
    auto location = truncated_location(uses->result);
    if (!location) location = cleared_location(uses->result);
    if (!location || view.find("read_offloaded", "reference", *location) != nullptr) return std::nullopt;
    Call search = read_back(*location);
    search.arguments["grep"] = fmt::format("case {}::", enum_name);
    return reply(view, "Of that list I saw the ends only. I search the stored text.", {search});
}

/// The text of the header as the request shows it, also if it was read back; else the call that brings it.
struct Recalled {
    std::string text{};
    std::optional<Message> call{};
};

Recalled recall(const RequestView& view, const Plan& plan) {
    const SeenCall* first = view.find("read_file", "path", plan.header);
    const auto location = cleared_location(first->result);
    if (!location) return {first->result, {}};
    const SeenCall* again = view.find("read_offloaded", "reference", *location);
    if (again != nullptr) return {again->result, {}};
    const std::string text = fmt::format("What I read of {} was cleared. I read it back.", plan.header);
    return {{}, reply(view, text, {read_back(*location)})};
}

std::optional<Message> edit(const RequestView& view, const Plan& plan, const std::string& enum_name) {
    if (view.find("edit_file", "path", plan.header) != nullptr) return std::nullopt;
    const Recalled header = recall(view, plan);
    if (header.call) return header.call;
    const auto enumeration = find_enum(header.text, enum_name);
    if (!enumeration) return reply(view, fmt::format("Not done: I cannot read `enum class {}`.", enum_name));
    const Json arguments{{"path", plan.header}, {"old", enumeration->block}, {"new", with_list(*enumeration)}};
    return reply(view, fmt::format("It has {} values.", enumeration->values.size()), {{"edit_file", arguments}});
}

/// Compiles a file that includes the header and compares the length of the list.
std::string check_command(const Plan& plan, const EnumText& enumeration) {
    return fmt::format(
        "printf '#include \"%s\"\\n#include <iterator>\\nusing namespace whittle;\\n"
        "static_assert(std::size({}) == {});\\n' '{}' | c++ -std=c++20 -Wall -Wextra -Iinclude -I. "
        "-fsyntax-only -x c++ -",
        list_name(enumeration.name), enumeration.values.size(), plan.header);
}

std::optional<Message> check(const RequestView& view, const Plan& plan, const std::string& enum_name) {
    const SeenCall* edited = view.find("edit_file", "path", plan.header);
    const auto enumeration = find_enum(edited->arguments.value("old", ""), enum_name);
    const std::string commands[] = {check_command(plan, *enumeration), "git diff"};
    for (const std::string& command : commands) {
        if (view.find("run_command", "command", command) == nullptr) return reply(view, "", {run(command)});
    }
    const std::string& compiled = view.find("run_command", "command", commands[0])->result;
    const bool is_good = edited->result.starts_with("edited ") && compiled.find("[exit code 0]") != std::string::npos;
    if (!is_good) return reply(view, "Not done: the edit failed or does not compile.");
    return reply(view, fmt::format("Done: `{1}` in {0} has all {2} values of `{3}`; it compiles.", plan.header,
                                   list_name(enum_name), enumeration->values.size(), enum_name));
}

Message next_message(const RequestView& view) {
    const std::string enum_name = quoted_in(view.task);
    if (enum_name.empty()) return reply(view, "Not done: I am a script; name an enumeration in back quotes.");
    if (auto message = explore(view, enum_name)) return *message;
    if (auto message = start_plan(view, enum_name)) return *message;
    const Plan plan = *read_plan(view);
    if (auto message = survey(view, plan)) return *message;
    if (auto message = find_with_shell(view, enum_name)) return *message;
    if (auto message = search_the_uses(view, enum_name)) return *message;
    if (auto message = edit(view, plan, enum_name)) return *message;
    return *check(view, plan, enum_name);
}

}  // namespace

std::string task_for(std::string_view enum_name) {
    return fmt::format(
        "Read through this repository, then add a list of all values of `{}` right behind its declaration,\n"
        "so that code which walks over them need not write them out. Check that it compiles.",
        enum_name);
}

whittle::Reply<Message> scripted_reply(const whittle::ModelRequest<Message>& request) {
    Message message = next_message(read_request(request.messages));
    const bool has_calls = message.json().contains("tool_calls");
    return {std::move(message), std::nullopt,
            has_calls ? whittle::FinishReason::tool_calls : whittle::FinishReason::stop};
}

}  // namespace agent
