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
    return std::string(whittle::grapheme_prefix(text, columns - 3)) + "...";
}

std::string row(std::string_view step, std::string_view what, std::string_view sent, std::string_view raw) {
    return fmt::format("{:>4}  {:<{}}  {:>9}  {:>9}", step, what, what_columns, sent, raw);
}

/// A model may pass anything: empty for what is no text.
std::string text_of_argument(const nlohmann::json& arguments, const char* name) {
    const auto found = arguments.is_object() ? arguments.find(name) : arguments.end();
    return found != arguments.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string text_of_result(const whittle::ToolResult& result) {
    std::string text;
    for (const whittle::Part& part : result.parts) text += part.text;
    return text;
}

}  // namespace

std::string without_controls(std::string_view text) {
    std::string shown(text);
    std::ranges::replace_if(
        shown, [](char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f'; }, ' ');
    return shown;
}

void Screen::line(std::string_view text) {
    status_.erase();
    fmt::print(out_, "{}{}\n", is_in_line_ ? "\n" : "", text);
    is_in_line_ = false;
    std::fflush(out_);
    if (is_running_) show_status();
}

void Screen::stream(std::string_view text) {
    if (text.empty()) return;
    const std::string shown = without_controls(text);
    status_.erase();
    fmt::print(out_, "{}", shown);
    std::fflush(out_);
    is_in_line_ = !shown.ends_with('\n');
}

void Screen::show_status() {
    if (is_in_line_) return;
    std::string text = running_.empty() ? "model" : *running_.begin();
    if (running_.size() > 1) text += fmt::format(" +{}", running_.size() - 1);
    text += " | " + with_commas(context_tokens_);
    if (window_ > 0) text += " / " + with_commas(window_);
    status_.show(fmt::format("{} tokens | cleared {} | shortened {} | saved {}", text, figures_.cleared_results,
                             figures_.truncated_results, with_commas(figures_.raw_sum - figures_.sent_sum)));
}

void Screen::end_of_run() {
    is_running_ = false;
    status_.erase();
}

void Screen::note(std::string_view colour, std::string_view text) {
    line(has_colour_ ? fmt::format("      {}{}\033[0m", colour, text) : fmt::format("      {}", text));
}

void Screen::headings() {
    line(row("step", "what the model asks for", "tokens", "tokens"));
    line(row("", "", "sent", "uncut"));
    is_running_ = true;
    show_status();
}

std::string Screen::describe(const std::string& tool, const nlohmann::json& arguments) const {
    const auto text = [&](const char* name) { return text_of_argument(arguments, name); };
    const std::string path = text("path");
    if (tool == "run_command") return "$ " + text("command");
    if (tool == "grep") return fmt::format("grep \"{}\" {}", text("pattern"), path);
    if (tool == "read_offloaded") {
        const std::string wanted = text("grep");
        const std::string object = std::filesystem::path(text("reference")).filename().string();
        return wanted.empty() ? "read back " + object : fmt::format("search \"{}\" in {}", wanted, object);
    }
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
    context_tokens_ = sent;
    line(row(std::to_string(figures_.steps), cut(what, what_columns), with_commas(sent), with_commas(raw)));
}

void Screen::report(const whittle::Report& report) {
    context_tokens_ = report.tokens_after;
    if (is_running_) show_status();
    for (const whittle::StageReport& stage : report.stages) {
        if (!stage.details) continue;
        for (const whittle::StoreFailure& failure : stage.details->store_failures)
            figures_.errors.push_back(fmt::format("store {}: {}", failure.key, failure.reason));
        if (!stage.details->error.empty()) figures_.errors.push_back(stage.details->error);
        if (stage.outcome != whittle::Outcome::committed) continue;
        const auto cut_out = std::ranges::count_if(stage.details->candidates, &whittle::Candidate::removed);
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
    const std::string path = text_of_argument(arguments, "path");
    if (context.tool == "read_offloaded") ++(arguments.contains("grep") ? figures_.searches : figures_.read_backs);
    if (context.tool == "read_file") figures_.files.insert(sandbox_.shown(sandbox_.allowed(path)));
    if (context.tool == "edit_file")
        figures_.edits.push_back({path, text_of_argument(arguments, "old"), text_of_argument(arguments, "new")});
}

void Screen::tool_start(const whittle::ToolContext& context) {
    running_.insert(context.tool);
    if (is_running_) show_status();
}

void Screen::tool_end(const whittle::ToolContext& context, const whittle::ToolResult& result,
                      std::size_t original_bytes) {
    if (const auto found = running_.find(context.tool); found != running_.end()) running_.erase(found);
    const std::string text = text_of_result(result);
    count(context, text, result.is_error);
    if (original_bytes > text.size()) {
        ++figures_.truncated_results;
        figures_.truncated_bytes += static_cast<std::int64_t>(original_bytes - text.size());
        note(green, fmt::format("{}: {} bytes shortened to {}, all of it is in the store", context.tool,
                                with_commas(static_cast<std::int64_t>(original_bytes)),
                                with_commas(static_cast<std::int64_t>(text.size()))));
    } else if (is_running_) {
        show_status();
    }
    if (!result.is_error) return;
    const bool has_run = context.tool == "run_command" && text.ends_with(']');  // its last line says how it ended
    const std::string shown = has_run ? text.substr(text.rfind('\n') + 1) : text;
    note(red, cut(fmt::format("error: {}", shown), what_columns));
    figures_.errors.push_back(cut(fmt::format("{}: {}", context.tool, shown), what_columns));
}

}  // namespace agent
