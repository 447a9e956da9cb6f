#pragma once

#include "whittle/message/part.hpp"
#include "whittle/message/traits.hpp"
#include "whittle/openai/openai.hpp"
#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/saved/detail/trajectory_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

/// A message type that is made from JSON and shows it.
template <typename M>
concept JsonMessage = AgentMessage<M> && std::constructible_from<M, nlohmann::ordered_json> && requires(const M& m) {
    { m.json() } -> std::convertible_to<const nlohmann::ordered_json&>;
};

/// A recorded session of an agent.
template <JsonMessage M = openai::Message>
struct Trajectory {
    std::string id{};               ///< of the session
    std::string system{};           ///< beside the messages, never one of them
    std::vector<ToolSpec> tools{};  ///< that the agent offered
    std::vector<M> messages{};      ///< in order
    std::vector<std::optional<double>>
        seconds_since_first{};                   ///< since the first message, one per message; empty if unknown
    std::vector<RecordedUsage> usage_by_call{};  ///< what the provider billed, where it was recorded
    /// Messages with U+FFFD where half of a surrogate pair, or bytes that are no UTF-8, were recorded; the number of
    /// messages stands for what is beside them. Not written.
    std::vector<std::size_t> messages_with_invalid_utf8{};
    nlohmann::ordered_json rest =
        nlohmann::ordered_json::object();  ///< all other members, and what the above cannot hold
};

/// How a file of sessions is read.
struct TrajectoryOptions {
    std::string name = "trajectories";  ///< of the file: starts error texts, and its stem is used for missing ids
    JsonLimits limits{.max_bytes = 1U << 30U};          ///< of one line, or of a document over several lines
    std::function<void(const std::string&)> on_note{};  ///< gets what parsing had to change, with file and line
    std::function<void()>
        check_cancelled{};  ///< called for each 64 KiB that are parsed and each message; what it throws gets out
};

namespace detail {

/// `visit` may return false to end the reading.
template <typename Visit, typename M>
bool visit_trajectory(Visit& visit, Trajectory<M>&& trajectory) {
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, Trajectory<M>>>) {
        visit(std::move(trajectory));
        return true;
    } else {
        return visit(std::move(trajectory));
    }
}

template <typename M>
[[nodiscard]] M to_message(const InputPlace& where, ordered_json&& json) {
    const InputPlace role = where.member("role");
    if (!json.is_object()) where.fail("an object", &json);
    if (!find_string(json, "role")) role.fail("a string", find_member(json, "role"));
    try {
        return M(std::move(json));
    } catch (const Error& e) {
        throw Error(Errc::parse_failed, where.text() + ": " + e.what());
    }
}

template <typename M>
[[nodiscard]] std::vector<M> to_messages(const InputPlace& where, ordered_json&& json, CancelCheck check_cancelled) {
    if (!json.is_array()) where.fail("an array", &json);
    std::vector<M> messages;
    messages.reserve(json.size());
    for (ordered_json& element : json) {
        check_cancelled();
        messages.push_back(to_message<M>(where.element(messages.size()), std::move(element)));
    }
    return messages;
}

/// `json`: an object with "messages", or a bare array of messages.
template <typename M>
[[nodiscard]] Trajectory<M> to_trajectory(const InputPlace& where, ordered_json&& json, std::string default_id,
                                          CancelCheck check_cancelled) {
    Trajectory<M> trajectory;
    if (json.is_array()) {
        trajectory.id = std::move(default_id);
        trajectory.messages = to_messages<M>(where.member("messages"), std::move(json), check_cancelled);
        return trajectory;
    }
    if (!json.is_object()) where.fail("a trajectory object or an array of messages", &json);
    if (!json.contains("messages")) where.member("messages").fail("an array", nullptr);
    trajectory.messages = to_messages<M>(where.member("messages"), std::move(json["messages"]), check_cancelled);
    trajectory.id = id_of(where, json).value_or(std::move(default_id));
    trajectory.system = system_of(where, json);
    trajectory.tools = tools_of(where, json);
    trajectory.seconds_since_first = seconds_of(where, json, trajectory.messages.size());
    trajectory.usage_by_call = usage_of(where, json, trajectory.messages.size());
    drop_known_members(json, trajectory.system, trajectory.tools);
    trajectory.rest = std::move(json);
    return trajectory;
}

[[nodiscard]] inline ordered_json parse_at(const std::string& where, std::string_view text,
                                           const TrajectoryOptions& options, bool& is_repaired,
                                           CancelCheck check_cancelled) {
    ParseNotes notes;
    ordered_json json = parse_repaired_json(where, text, is_repaired, options.limits,
                                            options.on_note ? &notes : nullptr, check_cancelled);
    if (is_repaired && options.on_note) options.on_note(where + ": " + std::string(repaired_note));
    for (const std::string& note : notes.notes) options.on_note(where + ": " + note);
    return json;
}

/// Notes which messages of a text that was mended hold U+FFFD.
template <typename M>
void find_repaired(Trajectory<M>& trajectory) {
    for (std::size_t i = 0; i < trajectory.messages.size(); ++i) {
        if (holds_replacement(trajectory.messages[i].json())) trajectory.messages_with_invalid_utf8.push_back(i);
    }
    const auto holds = [](const std::string& text) { return text.find("\xEF\xBF\xBD") != std::string::npos; };
    const auto tool_holds = [&](const ToolSpec& tool) { return holds(tool.description) || holds(tool.parameters); };
    if (holds(trajectory.system) || std::ranges::any_of(trajectory.tools, tool_holds))
        trajectory.messages_with_invalid_utf8.push_back(trajectory.messages.size());
}

template <typename M, typename Visit>
bool visit_text(const TrajectoryOptions& options, std::size_t line, std::string_view text, Visit& visit) {
    const std::string where = options.name + ":" + std::to_string(line);
    const std::string stem = std::filesystem::path(options.name).stem().string();
    const auto check_cancelled = [&] {
        if (options.check_cancelled) options.check_cancelled();
    };
    bool is_repaired = false;
    ordered_json json = parse_at(where, text, options, is_repaired, check_cancelled);
    Trajectory<M> trajectory =
        to_trajectory<M>(InputPlace(where), std::move(json), stem + "-" + std::to_string(line), check_cancelled);
    if (is_repaired) find_repaired(trajectory);
    return visit_trajectory(visit, std::move(trajectory));
}

}  // namespace detail

/// Reads sessions one by one: JSON Lines (an object or a bare array of messages per line, blank lines skipped), or one
/// object or array over several lines; which of them, the first line tells. Calls `visit(Trajectory<M>&&)`; if that
/// returns bool, false ends the reading. A missing id becomes "{stem of the name}-{line}". Holds one session at a time.
/// Returns how many were visited. Throws Error(parse_failed): "sessions.jsonl:17: messages[3].role: expected a string,
/// found null", or with the byte offset in the line where the text is no JSON, or more than 500,000 values and one in
/// 12 bytes; what was visited before stays visited. Half of a surrogate pair, and bytes that are no UTF-8, are read as
/// U+FFFD (`Trajectory::messages_with_invalid_utf8`, `on_note`).
template <JsonMessage M = openai::Message, typename Visit>
std::size_t read_trajectories(std::istream& in, const TrajectoryOptions& options, Visit&& visit) {
    detail::SessionText text(in, options.name, options.limits.max_bytes);
    std::size_t count = 0;
    while (text.next()) {
        ++count;
        if (!detail::visit_text<M>(options, text.line(), text.text(), visit)) break;
    }
    return count;
}

/// Reads a file; its path is the name in the options. Throws Error(not_found) if it cannot be opened.
template <JsonMessage M = openai::Message, typename Visit>
std::size_t read_trajectories(const std::filesystem::path& file, TrajectoryOptions options, Visit&& visit) {
    std::ifstream in = detail::open_sessions(file);
    options.name = file.string();
    return read_trajectories<M>(static_cast<std::istream&>(in), options, std::forward<Visit>(visit));
}

/// All sessions of a file at once.
template <JsonMessage M = openai::Message>
[[nodiscard]] std::vector<Trajectory<M>> load_trajectories(const std::filesystem::path& file,
                                                           TrajectoryOptions options = {}) {
    std::vector<Trajectory<M>> all;
    read_trajectories<M>(file, std::move(options), [&](Trajectory<M>&& one) { all.push_back(std::move(one)); });
    return all;
}

/// One line of JSON without a line feed, which `read_trajectories` reads back: id, system, tools, messages, then what
/// is in `rest`. Text that is not UTF-8 is written with U+FFFD, since a recording must not fail.
template <JsonMessage M>
[[nodiscard]] std::string to_json_line(const Trajectory<M>& trajectory) {
    nlohmann::ordered_json line{{"id", trajectory.id}};
    detail::put_system(line, trajectory.rest, trajectory.system);
    detail::put_tools(line, trajectory.rest, trajectory.tools);
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    for (const M& m : trajectory.messages) messages.push_back(m.json());
    line["messages"] = std::move(messages);
    detail::put_rest(line, trajectory.rest);
    detail::put_seconds(line, trajectory.seconds_since_first);
    detail::put_usage(line, trajectory.usage_by_call);
    return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace whittle::inline v0
