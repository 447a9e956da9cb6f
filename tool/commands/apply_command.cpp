#include "apply_report.hpp"
#include "apply_tables.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "interrupt.hpp"
#include "masked.hpp"
#include "output.hpp"
#include "read_sessions.hpp"
#include "shape.hpp"
#include "shown.hpp"
#include "table.hpp"
#include "tool_models.hpp"
#include "whittle/message/validity.hpp"
#include "whittle/saved/side_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <sstream>
#include <unordered_map>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

template <AgentMessage M>
struct Input {
    Trajectory<M> trajectory{};
    bool is_array = false;  ///< a bare array of messages
};

Input<openai::Message> read_input(const std::string& path, const InputLimits& limits) {
    std::string text = read_all(path, limits);
    const std::size_t start = text.find_first_not_of(" \t\r\n", text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    Input<openai::Message> input{.trajectory = {}, .is_array = start != std::string::npos && text[start] == '['};
    const std::string name = path == "-" ? "stdin" : path;
    std::istringstream in(std::move(text));
    std::size_t count = 0;
    read_trajectories(in, options_for(name, limits), [&](Trajectory<>&& trajectory) {
        if (++count > 1)
            throw Error(Errc::parse_failed,
                        name + ": expected one conversation, found more: write each to a file of its own");
        input.trajectory = std::move(trajectory);
    });
    if (count == 0) throw Error(Errc::parse_failed, name + ": expected one conversation, found none");
    return input;
}

/// Messages behind those that are known came from the host since.
template <AgentMessage M>
void append_new(Conversation<M>& conversation, std::span<const M> messages) {
    for (const M& m : messages.subspan(conversation.size())) {
        throw_if_interrupted();
        conversation.push_back(m, Usage{});
    }
}

/// With the table that knows most of the messages. Those that fit none of them are refused: their marks would be lost.
template <AgentMessage M>
Conversation<M> load(const Trajectory<M>& trajectory, const std::vector<TableText>& tables, const Chain<M>& chain) {
    const std::shared_ptr<Storage>& storage = chain.config().storage;
    std::optional<Conversation<M>> best;
    std::exception_ptr reason;
    bool had_none = tables.empty();
    for (const TableText& table : tables) {
        try {
            if (table.was_none) {
                had_none = true;
                continue;
            }
            auto front = prefix_from_side_table<M>(table.text, trajectory.messages, storage,
                                                   {.expected_id = {},
                                                    .extra_readable_roots = chain.extra_readable_roots(),
                                                    .check_cancelled = throw_if_interrupted});
            if (!best || front.size() > best->size()) best.emplace(std::move(front));
        } catch (const Error& error) {
            if (!reason)
                reason = std::make_exception_ptr(Error(
                    error.errc(), fmt::format("{}: {}; nothing was written. Give the messages as they were saved, "
                                              "or remove the table: then nothing can be undone",
                                              table.path, error.what())));
        }
    }
    if (!best && !had_none) std::rethrow_exception(reason);
    if (!best) best.emplace(trajectory.id);
    append_new(*best, std::span<const M>(trajectory.messages));
    return std::move(*best);
}

/// A table that was named has to be there; else its marks would be dropped in silence.
std::vector<TableText> tables_of(const ApplyPaths& paths, const InputLimits& limits) {
    if (paths.in_table.empty()) return {};
    std::vector<TableText> tables = tables_at(paths.in_table, limits);
    if (tables.empty() && paths.needs_in_table) (void)read_all(paths.in_table, limits);  // throws the system's reason
    return tables;
}

template <AgentMessage M>
std::vector<Serial> serials_of(const Conversation<M>& conversation) {
    std::vector<Serial> serials;
    for (std::size_t i = 0; i < conversation.size(); ++i) serials.push_back(conversation.outline()[i].serial);
    return serials;
}

/// Times and usage stay with their messages; new messages have none.
template <AgentMessage M>
void take_messages(Trajectory<M>& trajectory, const std::vector<Serial>& before, const Conversation<M>& conversation) {
    trajectory.messages.assign(conversation.messages().begin(), conversation.messages().end());
    const std::vector<Serial> after = serials_of(conversation);
    if (after == before) return;
    std::unordered_map<Serial, std::size_t> places;
    for (std::size_t i = 0; i < after.size(); ++i) places[after[i]] = i;
    std::vector<std::optional<double>> seconds(trajectory.seconds_since_first.empty() ? 0 : after.size());
    for (std::size_t i = 0; i < trajectory.seconds_since_first.size(); ++i) {
        if (const auto place = places.find(before[i]); place != places.end())
            seconds[place->second] = trajectory.seconds_since_first[i];
    }
    std::vector<RecordedUsage> usage;
    for (const RecordedUsage& u : trajectory.usage_by_call) {
        if (const auto place = places.find(before[u.message]); place != places.end())
            usage.push_back({place->second, u.usage});
    }
    trajectory.seconds_since_first = std::move(seconds);
    trajectory.usage_by_call = std::move(usage);
}

template <AgentMessage M>
std::string to_text(const Input<M>& input) {
    if (!input.is_array) return to_json_line(input.trajectory) + "\n";
    ordered_json array = ordered_json::array();
    for (const M& m : input.trajectory.messages) array.push_back(m.json());
    return array.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

/// On disk, and not made yet.
bool is_absent(const StorageSettings& storage) {
    return !storage.place.path.empty() && !std::filesystem::exists(storage.place.path);
}

/// Empty: middlewares have stores of their own, or it has no path.
std::string name_of_store(const ChainSettings& settings) {
    const bool has_others =
        std::ranges::any_of(settings.stages, [](const StageSettings& stage) { return !stage.storages.empty(); });
    return has_others ? std::string() : settings.storage_settings.place.path;
}

/// A dry run makes no directory: a storage that is not there yet is an empty one.
std::shared_ptr<Storage> storage_for(const StorageSettings& settings, bool dry_run) {
    return dry_run && is_absent(settings) ? memory_storage() : open_storage(settings);
}

/// A middleware's own storage is treated the same way.
void keep_storages_closed(ChainSettings& settings) {
    const auto close = [](StorageSettings& storage) {
        if (is_absent(storage)) storage = {.type = "memory", .config = MemoryStorageOptions{}};
    };
    for (StageSettings& stage : settings.stages) {
        for (auto& [key, storage] : stage.storages) close(storage);
    }
}

template <AgentMessage M>
void write_result(const ApplyCommand& command, const ApplyPaths& paths, const Input<M>& input,
                  const Conversation<M>& conversation, Storage* embed) {
    if (paths.out_table.empty() && !conversation.journal().empty())
        print_note(
            "warning: there is no side table beside standard output: what was changed cannot be undone, and another "
            "run will not know it; name a file with --out-table");
    const std::string table = paths.out_table.empty() ? std::string() : to_side_table(conversation, embed) + "\n";
    replace_both(command.out, to_text(input), paths.out_table, table);
}

std::optional<Serial> serial_of(std::span<const Serial> serials, std::string_view option,
                                std::optional<std::size_t> index) {
    if (!index) return std::nullopt;
    if (*index < serials.size()) return serials[*index];
    if (serials.empty()) throw UsageError{fmt::format("{} {}: the conversation has no messages", option, *index)};
    throw UsageError{fmt::format("{} {}: the conversation has messages 0 to {}", option, *index,
                                 static_cast<std::int64_t>(serials.size()) - 1)};
}

/// What no chain mends.
template <AgentMessage M>
void warn_of_breaks(const std::string& file, const Conversation<M>& conversation, const ValidityProfile& profile) {
    std::vector<Violation> broken =
        validate(conversation.outline(), profile, std::nullopt, [] { throw_if_interrupted(); });
    std::erase_if(broken, [](const Violation& v) { return severity_of(v.rule) != Severity::refused; });
    if (broken.empty()) return;
    print_note(fmt::format("warning: {}: {} of {} broken on input, first at message {}: {}; `whittle check` names each",
                           file == "-" ? "stdin" : file, numbered(static_cast<std::int64_t>(broken.size()), "rule"),
                           profile.name, broken.front().message_index, shown(broken.front().text)));
}

template <AgentMessage M>
const Report& run_chain(const ApplyCommand& command, const Chain<M>& chain, Conversation<M>& conversation,
                        std::span<const Serial> serials, const HookRequest<M>& request) {
    if (!command.now) return chain.before_model(conversation, request);
    return chain.compact_now(conversation,
                             {.target_tokens = command.target,
                              .from = serial_of(serials, "--from", command.from),
                              .stop_before = serial_of(serials, "--up-to", command.up_to)},
                             request);
}

template <AgentMessage M>
ExitCode apply(const ApplyCommand& command, const ApplyPaths& paths, const CommonOptions& common,
               ChainSettings settings, Input<M> input) {
    if (command.dry_run) keep_storages_closed(settings);
    settings.config.storage = storage_for(settings.storage_settings, command.dry_run);
    const Chain<M> chain = make_chain<M>(settings, {}, tool_models<M>(common.allow_remote));
    Conversation<M> conversation = load(input.trajectory, tables_of(paths, common.limits), chain);
    warn_of_breaks(command.in, conversation, chain.config().profile.validity);
    const std::vector<Serial> before = serials_of(conversation);
    const Report& report = run_chain<M>(command, chain, conversation, before,
                                        {input.trajectory.tools, input.trajectory.system, nullptr, interrupt_token()});
    throw_if_interrupted();  // the chain reports a middleware that a signal ended as a failed one
    const std::string plain = apply_report_text(report, before, command.dry_run, common.json);
    const std::string printed_report = output_text(plain, common.json);
    const std::vector<std::string> failures = failures_of(report, name_of_store(settings));
    if (!command.dry_run) {
        take_messages(input.trajectory, before, conversation);
        const bool is_memory = settings.storage_settings.type == "memory";
        write_result(command, paths, input, conversation, is_memory ? settings.config.storage.get() : nullptr);
    }
    if (command.out == "-" && !command.dry_run) {
        write_error_stream(printed_report);
    } else {
        print_raw(printed_report);
    }
    for (const std::string& warning : warnings_of(report)) print_note(shown(warning));
    for (const std::string& failure : failures) print_note(failure);
    return failures.empty() ? done : failed;
}

}  // namespace

ExitCode run_apply(const ApplyCommand& command, const CommonOptions& common) {
    if (command.out.empty() && !command.dry_run) throw UsageError{"apply needs --out FILE, or --dry-run"};
    const std::optional<Shape> shape = to_shape(common.shape);
    const ApplyPaths paths = paths_of(command);
    ChainSettings settings = load_settings(command.config);
    settings.config.dry_run = settings.config.dry_run || command.dry_run;
    settings.config.explain = settings.config.explain || command.dry_run;
    Input<openai::Message> input = read_input(command.in, common.limits);
    ExitCode code = done;
    visit_in_shape(
        std::move(input.trajectory), shape, command.in == "-" ? "stdin" : command.in,
        [&]<AgentMessage M>(Trajectory<M>&& trajectory) {
            code = apply<M>(command, paths, common, settings_for<M>(settings), {std::move(trajectory), input.is_array});
        });
    return code;
}

}  // namespace whittle::cli
