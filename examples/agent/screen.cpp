#include "screen.hpp"

#include <whittle/base/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace agent {
namespace {

using whittle::PartKind;
using whittle::PartView;
using Traits = whittle::message_traits<whittle::openai::Message>;

constexpr std::size_t what_columns = 68;
constexpr std::string_view green = "\033[32m";
constexpr std::string_view red = "\033[31m";

/// One line of at most `columns` characters without control characters.
std::string cut(std::string text, std::size_t columns) {
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
    if (text.size() <= columns) return text;
    return std::string(whittle::utf8_prefix(text, columns - 3)) + "...";
}

std::string row(std::string_view step, std::string_view what, std::string_view sent, std::string_view raw) {
    return fmt::format("{:>4}  {:<{}}  {:>9}  {:>9}", step, what, what_columns, sent, raw);
}

std::string text_of_result(const whittle::ToolResult& result) {
    std::string text;
    for (const whittle::Part& part : result.parts) text += part.text;
    return text;
}

}  // namespace

void Screen::line(std::string_view text) {
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
}

void Screen::note(std::string_view colour, std::string_view text) {
    line(has_colour_ ? fmt::format("      {}{}\033[0m", colour, text) : fmt::format("      {}", text));
}

void Screen::headings() {
    line(row("step", "what the model asks for", "tokens", "tokens"));
    line(row("", "", "sent", "uncleared"));
}

std::string Screen::describe(const std::string& tool, const nlohmann::json& arguments) const {
    const auto text = [&](const char* name) {
        return arguments.is_object() && arguments.contains(name) && arguments[name].is_string()
                   ? arguments[name].get<std::string>()
                   : std::string();
    };
    const std::string path = text("path");
    if (tool == "run_command") return "$ " + text("command");
    if (tool == "grep") return fmt::format("grep \"{}\" {}", text("pattern"), path);
    if (tool == "read_file" && sandbox_.is_in_store(path))
        return "read_file from the store: " + std::filesystem::path(path).filename().string();
    return fmt::format("{} {}", tool, path);
}

void Screen::step(std::int64_t sent, std::int64_t raw, const whittle::openai::Message& reply) {
    ++figures_.steps;
    figures_.sent_peak = std::max(figures_.sent_peak, sent);
    figures_.raw_peak = std::max(figures_.raw_peak, raw);
    figures_.sent_sum += sent;
    figures_.raw_sum += raw;
    std::string what;
    Traits::for_each_part(reply, [&](const PartView& part) {
        if (part.kind != PartKind::tool_call) return;
        if (!what.empty()) what += "; ";
        what += describe(std::string(part.tool), nlohmann::json::parse(part.text, nullptr, false));
    });
    if (what.empty()) what = "answers";
    line(row(std::to_string(figures_.steps), cut(what, what_columns), with_commas(sent), with_commas(raw)));
}

void Screen::report(const whittle::Report& report) {
    for (const whittle::StageReport& stage : report.stages) {
        if (!stage.details) continue;
        for (const whittle::StoreFailure& failure : stage.details->store_failures)
            figures_.errors.push_back(fmt::format("store {}: {}", failure.key, failure.reason));
        if (!stage.details->error.empty()) figures_.errors.push_back(stage.details->error);
        if (stage.outcome != whittle::Outcome::committed) continue;
        const auto cut_out = std::ranges::count_if(stage.details->candidates, &whittle::Candidate::cut);
        figures_.cleared_results += static_cast<int>(cut_out);
        note(green, fmt::format("{} cleared {} old results: {} -> {} tokens", stage.middleware, cut_out,
                                with_commas(report.tokens_before), with_commas(report.tokens_after)));
    }
}

void Screen::count(const whittle::ToolContext& context, const std::string& text, bool is_error) {
    const auto arguments = nlohmann::json::parse(context.arguments, nullptr, false);
    if (context.tool == "run_command") {
        ++figures_.commands;
        figures_.last_command_status = text.ends_with("[exit code 0]") ? 0 : 1;
    }
    if (is_error) return;
    const std::string path = arguments.value("path", "");
    if (context.tool == "read_file" && sandbox_.is_in_store(path)) {
        ++figures_.read_backs;
    } else if (context.tool == "read_file") {
        figures_.files.insert(sandbox_.shown(sandbox_.readable(path)));
    }
    if (context.tool == "edit_file") figures_.edits.push_back({path, arguments["old"], arguments["new"]});
}

void Screen::tool_end(const whittle::ToolContext& context, const whittle::ToolResult& result) {
    const std::string text = text_of_result(result);
    count(context, text, result.is_error);
    if (!result.is_error) return;
    const std::string shown = context.tool == "run_command" ? text.substr(text.rfind('[')) : text;
    note(red, cut(fmt::format("error: {}", shown), what_columns));
    figures_.errors.push_back(cut(fmt::format("{}: {}", context.tool, shown), what_columns));
}

}  // namespace agent
