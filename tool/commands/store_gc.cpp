#include "input.hpp"
#include "interrupt.hpp"
#include "masked.hpp"
#include "options.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "store_commands.hpp"
#include "table.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/provider/detail/json_tree.hpp"
#include "whittle/retention/retention.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t seconds_per_hour = 3'600;

/// Whether it has messages, or is the table beside them.
bool is_saved_conversation(const ordered_json& json) {
    if (json.is_object()) return json.contains("messages") || json.contains("whittle_side_table");
    return json.is_array() && std::ranges::all_of(json, [](const auto& one) { return one.contains("role"); });
}

/// Null if it is no JSON that a conversation is saved as.
ordered_json parsed_or_null(std::string_view text) {
    try {
        return detail::parse_json("read", text, {.max_bytes = SIZE_MAX}, nullptr, [] { throw_if_interrupted(); });
    } catch (const Error&) {
        return nullptr;
    }
}

/// A file of --live, as far as it can be read.
struct LiveFile {
    std::string name{};
    bool holds_conversation = false;
    std::string id{};  // of the conversation; empty: it has none
};

LiveFile live_file(const std::string& name, std::string_view text) {
    LiveFile file{.name = name};
    for (const std::string_view part : {text, text.substr(0, text.find('\n'))}) {
        const ordered_json json = parsed_or_null(part);
        if (!is_saved_conversation(json)) continue;
        file.holds_conversation = true;
        if (const auto id = detail::find_string(json, "id")) file.id = *id;
        break;
    }
    return file;
}

/// The files of --live, one after the other.
class LiveFiles {
public:
    explicit LiveFiles(std::vector<std::string> files) : files_(std::move(files)) {}

    std::optional<SavedConversationText> next() {
        if (at_ == files_.size()) return std::nullopt;
        const std::string& file = files_[at_++];
        SavedConversationText saved{file, read_all(file, InputLimits{.max_bytes = 0, .max_ratio = 0})};
        read_.push_back(live_file(file, saved.text));
        return saved;
    }
    /// Those read so far.
    [[nodiscard]] const std::vector<LiveFile>& read() const noexcept { return read_; }

private:
    std::vector<std::string> files_;
    std::size_t at_ = 0;
    std::vector<LiveFile> read_{};
};

RetentionOptions retention_options(const StoreCommand& command) {
    RetentionOptions options;
    options.all_conversations_known = !command.live.empty();
    options.purge_conversations = command.conversations;
    options.unreferenced_max_age_seconds = command.older_than_hours * seconds_per_hour;
    options.grace_seconds = std::min(options.grace_seconds, options.unreferenced_max_age_seconds);
    options.conversation_max_idle_seconds = command.conversations_older_than_hours * seconds_per_hour;
    options.max_bytes = command.max_bytes;
    options.check_cancelled = [] { throw_if_interrupted(); };
    return options;
}

bool names_object(Storage& storage, const std::string& file, RetentionOptions options) {
    LiveFiles only({file});
    bool found = false;
    options.max_bytes = 0;
    options.purge_conversations.clear();
    options.log_roots.clear();  // what a log names too is told as the log's
    options.next_saved_conversation = [&] { return only.next(); };
    options.visit = [&](const RetentionObject& object) { found = found || object.conversation == file; };
    (void)plan_retention(storage, options);
    return found;
}

/// The folders of objects in the store.
std::set<std::string, std::less<>> folders_in(Storage& storage) {
    std::set<std::string, std::less<>> folders;
    for (const StoredObject& object : objects_in(storage, "")) folders.insert(root_of(object.key));
    return folders;
}

/// Another file, given by mistake for a conversation, would let everything go that the conversation has; so would one
/// that is not read as it was written.
void require_conversations(Storage& storage, const StoreCommand& command, const LiveFiles& live,
                           const RetentionOptions& options) {
    const auto folders = folders_in(storage);
    for (const LiveFile& file : live.read()) {
        const bool has_objects =
            !file.id.empty() && (folders.contains(to_safe_name(file.id)) || folders.contains(short_root(file.id)));
        if ((file.holds_conversation && !has_objects) || names_object(storage, file.name, options)) continue;
        if (has_objects)
            throw Error(
                Errc::invalid_argument,
                fmt::format("store gc: --live {}: it is the conversation \"{}\", which has objects in {}, and it "
                            "refers to none of them; nothing was removed. Give what refers to them too, such "
                            "as FILE.whittle.json beside it, or leave it out if none is wanted",
                            file.name, file.id, command.root));
        throw Error(Errc::invalid_argument,
                    fmt::format("store gc: --live {}: it holds no messages, is no side table, and names no object of "
                                "{}; nothing was removed. Give the saved conversation, or FILE.whittle.json beside it",
                                file.name, command.root));
    }
}

std::string why(const RetentionObject& object) {
    switch (object.reason) {
        case RetentionReason::over_size: return "nothing refers to it, and the store is too large";
        case RetentionReason::purged: return "its conversation goes";
        case RetentionReason::expired: return "its conversation was saved too long ago";
        default: return "nothing refers to it";
    }
}

std::int64_t objects_of(const RetentionPlan& plan, RetentionReason reason) {
    const auto found = plan.sums.find(reason);
    return found == plan.sums.end() ? 0 : found->second.objects;
}

/// What of `plan` stays, each with its reason; nothing of what has none.
std::string stays_text(const RetentionPlan& plan) {
    std::string text;
    const auto add = [&](RetentionReason reason, std::string_view words) {
        const std::int64_t objects = objects_of(plan, reason);
        if (objects > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(objects), words);
    };
    add(RetentionReason::referenced, "are referred to");
    add(RetentionReason::log, "are logs");
    add(RetentionReason::too_young, "are young");
    add(RetentionReason::recently_active, "are of conversations at work");
    add(RetentionReason::unknown, "are of conversations that nobody knows (give all with --live)");
    return text.empty() ? "nothing" : text;
}

std::string plan_text(const StoreCommand& command, const RetentionPlan& plan, const RetentionResult& result) {
    std::string text;
    for (const RetentionObject& object : plan.to_remove)
        text += fmt::format("{}  {} bytes, {}: {}\n", shown(printed(object.key)), grouped(object.bytes),
                            age_text(age_of(object.stored_at_seconds)), why(object));
    const RetentionSum sum = command.yes ? result.removed : plan.removal_sum();
    text += fmt::format("{} objects with {} bytes {}; of what stays {}\n", grouped(sum.objects), grouped(sum.bytes),
                        command.yes ? "removed" : "would be removed with --yes", stays_text(plan));
    for (const std::string& key : result.planned_but_kept)
        text += fmt::format("kept, since it was written or referred to meanwhile: {}\n", shown(printed(key)));
    if (command.max_bytes > 0 && plan.bytes_after > command.max_bytes)
        text += fmt::format("{} bytes more than --max-bytes stay: they are referred to, or young\n",
                            grouped(plan.bytes_after - command.max_bytes));
    return text;
}

ordered_json plan_json(const StoreCommand& command, const RetentionPlan& plan, const RetentionResult& result) {
    const RetentionSum sum = command.yes ? result.removed : plan.removal_sum();
    ordered_json json{{"removed", command.yes},
                      {"bytes", sum.bytes},
                      {"bytes_before", plan.bytes_before},
                      {"bytes_after", plan.bytes_after},
                      {"kept", ordered_json::array()}};
    for (const std::string& key : result.planned_but_kept) json["kept"].push_back(printed(key));
    for (const auto reason : {RetentionReason::referenced, RetentionReason::log, RetentionReason::too_young,
                              RetentionReason::recently_active, RetentionReason::unknown})
        json[std::string(to_string(reason))] = objects_of(plan, reason);
    json["objects"] = ordered_json::array();
    for (const RetentionObject& object : plan.to_remove)
        json["objects"].push_back({{"key", printed(object.key)},
                                   {"bytes", object.bytes},
                                   {"age_seconds", age_of(object.stored_at_seconds)},
                                   {"reason", to_string(object.reason)}});
    return json;
}

}  // namespace

void add_store_gc(CLI::App& store, StoreCommand& command, CommonOptions& common) {
    CLI::App* gc = add_store_action(store, command, StoreCommand::Action::collect, "gc",
                                    "Say what no conversation refers to, and remove it with --yes");
    gc->add_option(
          "--live", command.live,
          "A saved conversation that is still wanted, or its side table; several times for several. Not needed "
          "for those with a log in the store")
        ->allow_extra_args(false)
        ->type_name("FILE");
    gc->add_option("--conversation", command.conversations,
                   "A conversation that goes, with its log and what no other refers to; several times for several")
        ->allow_extra_args(false)
        ->type_name("ID");
    gc->add_option("--older-than", command.older_than_hours,
                   "Leave younger objects, which a conversation that is not saved yet may have (default 24)")
        ->check(whole_number_check(0, "hours"))
        ->type_name("HOURS");
    gc->add_option("--conversations-older-than", command.conversations_older_than_hours,
                   "Conversations whose logs were written longer ago go, too (default: none)")
        ->check(whole_number_check(1, "hours"))
        ->type_name("HOURS");
    gc->add_option("--max-bytes", command.max_bytes,
                   "Above it what nothing refers to goes from the oldest on, also if it is younger, but for an hour")
        ->check(whole_number_check(1, "bytes"))
        ->type_name("BYTES");
    CLI::Option* dry = gc->add_flag("--dry-run", command.dry_run, "Remove nothing, as without --yes");
    gc->add_flag("--yes", command.yes, "Remove what is listed")->excludes(dry);
    add_common(*gc, common);
    gc->footer(
        "Examples:\n"
        "  whittle store gc store --live talk.json --live talk.json.whittle.json\n"
        "  whittle store gc store --dry-run        (of agents that keep logs in the store)\n"
        "  whittle store gc store.db --conversation talk-7 --max-bytes 1000000000 --yes\n\n"
        "An object stays if its key stands anywhere in a file or in the log of a conversation. Without --live only\n"
        "objects of conversations with a log are looked at. Removed objects do not come back.");
}

ExitCode run_store_gc(const StoreCommand& command, const CommonOptions& common) {
    const auto storage = open_store(command.root, command.key_file);
    RetentionOptions options = retention_options(command);
    LiveFiles live(command.live);
    if (!command.live.empty()) options.next_saved_conversation = [&live] { return live.next(); };
    // The store first: what is written after that is not looked at, and what refers to it is read later.
    const RetentionPlan plan = plan_retention(*storage, options);
    require_conversations(*storage, command, live, options);
    const RetentionResult result = command.yes ? execute_retention(*storage, plan, options) : RetentionResult{};
    print_raw(common.json ? shown_json(plan_json(command, plan, result)) + "\n" : plan_text(command, plan, result));
    return done;
}

}  // namespace whittle::cli
