#include "commands.hpp"
#include "whittle/adapter/side_table.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
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

Input<openai::Message> read_input(const std::string& path) {
    const std::string text = read_all(path);
    const std::size_t start = text.find_first_not_of(" \t\r\n", text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    Input<openai::Message> input{.trajectory = {}, .is_array = start != std::string::npos && text[start] == '['};
    const std::string name = path == "-" ? "stdin" : path;
    std::istringstream in(text);
    std::size_t count = 0;
    read_trajectories(in, {.name = name}, [&](Trajectory<>&& trajectory) {
        if (++count > 1)
            throw Error(Errc::parse_failed,
                        name + ": expected one conversation, found more: write each to a file of its own");
        input.trajectory = std::move(trajectory);
    });
    if (count == 0) throw Error(Errc::parse_failed, name + ": expected one conversation, found none");
    return input;
}

std::string table_beside(const std::string& given, const std::string& file) {
    if (!given.empty()) return given;
    return file == "-" ? std::string() : file + ".whittle.json";
}

template <AgentMessage M>
Conversation<M> load(const Trajectory<M>& trajectory, const std::string& table,
                     const std::shared_ptr<Storage>& storage) {
    if (!table.empty() && std::filesystem::exists(table)) {
        try {
            return from_side_table<M>(read_all(table), trajectory.messages, storage);
        } catch (const Error& error) {
            throw Error(error.errc(), table + ": " + error.what());
        }
    }
    Conversation<M> conversation(trajectory.id);
    for (const M& m : trajectory.messages) conversation.push_back(m, Usage{});
    return conversation;
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
    std::vector<std::optional<double>> seconds(trajectory.seconds.empty() ? 0 : after.size());
    for (std::size_t i = 0; i < trajectory.seconds.size(); ++i) {
        if (const auto place = places.find(before[i]); place != places.end())
            seconds[place->second] = trajectory.seconds[i];
    }
    std::vector<RecordedUsage> usage;
    for (const RecordedUsage& u : trajectory.usage) {
        if (const auto place = places.find(before[u.message]); place != places.end())
            usage.push_back({place->second, u.usage});
    }
    trajectory.seconds = std::move(seconds);
    trajectory.usage = std::move(usage);
}

template <AgentMessage M>
std::string to_text(const Input<M>& input) {
    if (!input.is_array) return to_json_line(input.trajectory) + "\n";
    ordered_json array = ordered_json::array();
    for (const M& m : input.trajectory.messages) array.push_back(m.json());
    return array.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

ordered_json to_json(const Candidate& candidate) {
    return {{"serial", candidate.serial},
            {"part", candidate.part},
            {"decision", candidate.cut ? "cut" : "keep"},
            {"rule", candidate.rule},
            {"tokens", candidate.tokens}};
}

ordered_json to_json(const StageReport& stage) {
    ordered_json json{{"middleware", stage.middleware},
                      {"outcome", name_of(stage.outcome)},
                      {"count", stage.count},
                      {"threshold", stage.threshold}};
    if (!stage.details) return json;
    json["tokens_before"] = stage.details->tokens_before;
    json["tokens_after"] = stage.details->tokens_after;
    json["first_changed"] =
        stage.details->first_changed ? ordered_json(*stage.details->first_changed) : ordered_json(nullptr);
    json["candidates"] = ordered_json::array();
    for (const Candidate& candidate : stage.details->candidates) json["candidates"].push_back(to_json(candidate));
    json["stored"] = stage.details->stored;
    if (!stage.details->error.empty()) json["error"] = stage.details->error;
    return json;
}

ordered_json to_json(const Report& report, bool dry_run) {
    ordered_json json{{"dry_run", dry_run},
                      {"changed", report.changed()},
                      {"tokens_before", report.tokens_before},
                      {"tokens_after", report.tokens_after}};
    json["stages"] = ordered_json::array();
    for (const StageReport& stage : report.stages) json["stages"].push_back(to_json(stage));
    return json;
}

/// A dry run makes no directory: a file storage that is not there yet is an empty one.
std::shared_ptr<Storage> storage_for(const StorageSettings& settings, bool dry_run) {
    const bool is_absent = settings.type == StorageSettings::Type::file && !std::filesystem::exists(settings.root);
    return dry_run && is_absent ? memory_storage() : open_storage(settings);
}

/// A middleware's own storage is treated the same way.
void keep_storages_closed(ChainSettings& settings) {
    const auto close = [](StorageSettings& storage) {
        if (storage.type == StorageSettings::Type::file && !std::filesystem::exists(storage.root))
            storage = {.type = StorageSettings::Type::memory};
    };
    for (StageSettings& stage : settings.stages) {
        close(stage.backend);
        for (auto& [tool, storage] : stage.tool_backends) close(storage);
    }
}

int count_failures(const Report& report) {
    int failures = 0;
    for (const StageReport& stage : report.stages) {
        const bool has_store_failures = stage.details && !stage.details->store_failures.empty();
        if (stage.outcome != Outcome::failed && !has_store_failures) continue;
        ++failures;
        complain(fmt::format("whittle: {}: {}\n", stage.middleware, name_of(stage.outcome)));
        if (!stage.details) continue;
        if (!stage.details->error.empty())
            complain(fmt::format("whittle: {}: {}\n", stage.middleware, stage.details->error));
        for (const StoreFailure& failure : stage.details->store_failures)
            complain(fmt::format("whittle: {}\n", failure.reason));
    }
    return failures;
}

/// Both files complete, then both in place.
template <AgentMessage M>
void write_result(const ApplyCommand& command, const Input<M>& input, const Conversation<M>& conversation,
                  Storage* embed) {
    const std::string table = table_beside(command.out_table, command.out);
    OutputFile out(command.out);
    out.write(to_text(input));
    if (table.empty()) {
        if (!conversation.journal().empty()) {
            complain(
                "whittle: warning: there is no side table beside standard output: what was changed cannot be undone, "
                "and another run will "
                "not know it; name a file with --out-table\n");
        }
        return out.commit();
    }
    OutputFile side(table);
    side.write(to_side_table(conversation, embed) + "\n");
    side.commit();
    out.commit();
}

template <AgentMessage M>
ExitCode apply(const ApplyCommand& command, const CommonOptions& common, ChainSettings settings, Input<M> input) {
    if (command.dry_run) keep_storages_closed(settings);
    settings.config.storage = storage_for(settings.storage, command.dry_run);
    const Chain<M> chain = make_chain<M>(settings);
    Conversation<M> conversation =
        load(input.trajectory, table_beside(command.in_table, command.in), settings.config.storage);
    const std::vector<Serial> before = serials_of(conversation);
    const Report& report = chain.before_model(conversation, {input.trajectory.tools, input.trajectory.system});
    const std::string told = common.json ? to_json(report, command.dry_run).dump(2) + "\n" : to_text(report);
    const int failures = count_failures(report);
    if (!command.dry_run) {
        take_messages(input.trajectory, before, conversation);
        const bool is_memory = settings.storage.type == StorageSettings::Type::memory;
        write_result(command, input, conversation, is_memory ? settings.config.storage.get() : nullptr);
    }
    if (command.out == "-" && !command.dry_run) {
        complain(told);
    } else {
        print(told);
    }
    return failures == 0 ? done : failed;
}

}  // namespace

ExitCode run_apply(const ApplyCommand& command, const CommonOptions& common) {
    if (command.out.empty() && !command.dry_run) throw UsageError{"apply needs --out FILE, or --dry-run"};
    const std::optional<Shape> shape = to_shape(common.shape);
    ChainSettings settings = load_settings(command.config);
    settings.config.dry_run = settings.config.dry_run || command.dry_run;
    settings.config.explain = settings.config.explain || command.dry_run;
    Input<openai::Message> input = read_input(command.in);
    ExitCode code = done;
    visit_in_shape(
        std::move(input.trajectory), shape, command.in == "-" ? "stdin" : command.in,
        [&]<AgentMessage M>(Trajectory<M>&& trajectory) {
            code = apply<M>(command, common, settings_for<M>(settings), {std::move(trajectory), input.is_array});
        });
    return code;
}

}  // namespace whittle::cli
