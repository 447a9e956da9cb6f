#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "read_sessions.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "whittle/anthropic/anthropic_wire.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/openai/openai_wire.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

constexpr auto poll_interrupts = [] { throw_if_interrupted(); };

const ValidityProfile& profile_of(const std::string& name) {
    if (const ValidityProfile* profile = find_validity_profile(name)) return *profile;
    std::string known;
    for (const ValidityProfile* profile : validity_profiles()) known += (known.empty() ? "" : ", ") + profile->name;
    throw UsageError{fmt::format("--profile {}: expected one of {}", name, known)};
}

std::string_view to_string(Severity severity) {
    return severity == Severity::refused ? "refused" : severity == Severity::silent ? "silent" : "cost";
}

/// A broken rule of the neutral view (with a part) or of the wire form (with a block).
struct Finding {
    std::string_view rule;
    Severity severity;
    std::size_t message;
    const char* unit;
    std::size_t index;
    std::string text;
};

struct Place {
    const std::string& file;
    const std::string& session;
    std::size_t messages;
};

std::string to_line(const Place& at, const Finding& f) {
    const std::string place =
        f.message < at.messages ? fmt::format("message {} {} {}", f.message, f.unit, f.index) : "the list";
    return fmt::format("{}: {}: {}: {} ({}): {}\n", shown(at.file), shown(at.session), place, f.rule,
                       to_string(f.severity), shown(f.text));
}

ordered_json to_json(const Place& at, const Finding& f) {
    const bool is_at_message = f.message < at.messages;
    ordered_json json{
        {"file", at.file}, {"trajectory", at.session}, {"rule", f.rule}, {"severity", to_string(f.severity)}};
    json["message"] = is_at_message ? ordered_json(f.message) : ordered_json(nullptr);
    json["part"] = nullptr;
    if (is_at_message) json[f.unit] = f.index;
    json["text"] = f.text;
    return json;
}

/// The rules of those who made the messages.
const ValidityProfile& own_profile(std::span<const openai::Message>) { return openai_chat(); }
const ValidityProfile& own_profile(std::span<const anthropic::Message>) { return anthropic_messages(); }

/// How the names of the profiles begin under which the wire form of these messages is checked.
std::string_view own_format(std::span<const openai::Message>) { return "openai"; }
std::string_view own_format(std::span<const anthropic::Message>) { return "anthropic"; }

std::vector<Finding> findings(std::vector<WireViolation> violations) {
    std::vector<Finding> found;
    for (WireViolation& v : violations)
        found.push_back({v.rule, v.severity, v.message, "block", v.block, std::move(v.text)});
    return found;
}

std::vector<Finding> check_wire_form(const Trajectory<openai::Message>& trajectory) {
    return findings(openai::check_wire(trajectory.messages, poll_interrupts));
}

std::vector<Finding> check_wire_form(const Trajectory<anthropic::Message>& trajectory) {
    ordered_json rest = trajectory.rest;
    if (!rest.contains("system") && !trajectory.system.empty()) rest["system"] = trajectory.system;
    return findings(anthropic::check_wire(trajectory.messages, rest, {}, poll_interrupts));
}

/// The first part whose text holds U+FFFD; 0 if only something else of the message does.
template <AgentMessage M>
std::size_t part_with_replacement(const M& message) {
    std::size_t parts = 0;
    std::optional<std::size_t> first;
    message_traits<M>::for_each_part(message, [&](const PartView& part) {
        if (!first && part.text.find("\xEF\xBF\xBD") != std::string_view::npos) first = parts;
        ++parts;
    });
    return first.value_or(0);
}

/// What was recorded is no text, so that a request with it breaks G1; here it was read as U+FFFD.
template <AgentMessage M>
std::vector<Finding> check_repaired(const Trajectory<M>& trajectory) {
    std::vector<Finding> found;
    for (const std::size_t i : trajectory.messages_with_invalid_utf8) {
        const bool is_message = i < trajectory.messages.size();
        found.push_back({to_string(Rule::G1_utf8), severity_of(Rule::G1_utf8), i, "part",
                         is_message ? part_with_replacement(trajectory.messages[i]) : 0,
                         std::string(is_message ? "the text" : "the system text or a tool") +
                             " was recorded with half of a surrogate pair, or with bytes that are no UTF-8 (read here "
                             "as U+FFFD)"});
    }
    return found;
}

template <AgentMessage M>
std::vector<Finding> check(const Trajectory<M>& trajectory, const ValidityProfile& profile) {
    std::vector<MessageInfo> infos;
    for (const M& m : trajectory.messages) {
        throw_if_interrupted();
        infos.push_back(describe(m));
        infos.back().serial = infos.size();
    }
    link_rounds(infos);
    const Outline outline{infos};
    std::vector<Finding> found;
    std::optional<std::span<const ToolSpec>> tools;
    if (!trajectory.tools.empty()) tools = trajectory.tools;
    if (has_rule(profile, Rule::G1_utf8)) found = check_repaired(trajectory);
    for (Violation& v : validate(outline, profile, tools, poll_interrupts))
        found.push_back(
            {to_string(v.rule), severity_of(v.rule), v.message_index, "part", v.part_index, std::move(v.text)});
    if (!profile.name.starts_with(own_format(trajectory.messages))) return found;
    for (Finding& f : check_wire_form(trajectory)) found.push_back(std::move(f));
    return found;
}

std::string violations_text(std::int64_t found) {
    return found == 1 ? "1 violation" : fmt::format("{} violations", found);
}

std::string joined(const std::set<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

ExitCode run_check(const CheckCommand& command, const CommonOptions& common) {
    const ValidityProfile* const given = command.profile.empty() ? nullptr : &profile_of(command.profile);
    std::set<std::string> profiles;
    ordered_json list = ordered_json::array();
    std::int64_t trajectories = 0;
    std::int64_t found = 0;
    Progress progress;
    for (const std::string& file : command.files) {
        for_each_session(file, common, progress, [&](const auto& trajectory) {
            ++trajectories;
            const ValidityProfile& profile = given != nullptr ? *given : own_profile(trajectory.messages);
            profiles.insert(profile.name);
            const Place at{file, trajectory.id, trajectory.messages.size()};
            for (const Finding& f : check(trajectory, profile)) {
                ++found;
                if (common.json) list.push_back(to_json(at, f));
                if (!common.json) print(to_line(at, f));
            }
        });
    }
    if (profiles.empty()) profiles.insert(given != nullptr ? given->name : openai_chat().name);
    if (common.json) {
        ordered_json json{{"profile", joined(profiles)}, {"trajectories", trajectories}, {"violations", found}};
        json["violation_list"] = std::move(list);
        print_json(shown_json(json) + "\n");
    } else {
        print(fmt::format("{} checked for {}: {}\n", numbered(trajectories, "session"), joined(profiles),
                          found == 0 ? "no violation" : violations_text(found)));
    }
    if (found == 0) return done;
    print_note("failed: " + violations_text(found));
    return failed;
}

}  // namespace whittle::cli
