#include "interrupt.hpp"
#include "masked.hpp"
#include "options.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "store_commands.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "whittle/redaction/redacted_storage.hpp"
#if WHITTLE_HAVE_ENCRYPTION
#    include "whittle/encryption/encrypted_storage.hpp"
#endif

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

/// What a conversation has in the store.
struct StoreGroup {
    std::int64_t objects = 0;
    std::int64_t bytes = 0;
    std::int64_t newest = INT64_MAX;  ///< seconds since then
    std::int64_t oldest = 0;

    void add(const StoredObject& object) {
        ++objects;
        bytes += object.bytes;
        newest = std::min(newest, object.age_seconds);
        oldest = std::max(oldest, object.age_seconds);
    }
};

std::string groups_text(const std::vector<StoredObject>& objects, bool colour) {
    std::map<std::string, StoreGroup> groups;
    StoreGroup all;
    for (const StoredObject& object : objects) {
        groups[root_of(object.key)].add(object);
        all.add(object);
    }
    if (groups.empty()) return "no object\n";
    Table table({"conversation", "objects", "bytes", "newest", "oldest"});
    const auto add = [&](const std::string& name, const StoreGroup& group) {
        table.add({name, grouped(group.objects), grouped(group.bytes), age_text(group.newest), age_text(group.oldest)});
    };
    for (const auto& [name, group] : groups) add(clipped_to_width(shown(printed(name)), 44), group);
    table.add_line();
    add(fmt::format("total of {}", grouped(static_cast<std::int64_t>(groups.size()))), all);
    return table.text(colour, table_columns());
}

std::string objects_text(const std::vector<StoredObject>& objects, bool colour) {
    if (objects.empty()) return "no object\n";
    Table table({"object", "bytes", "age"});
    for (const StoredObject& object : objects)
        table.add({object.key, grouped(object.bytes), age_text(object.age_seconds)});
    return table.text(colour, table_columns());
}

ordered_json objects_json(const std::vector<StoredObject>& objects) {
    ordered_json list = ordered_json::array();
    for (const StoredObject& object : objects)
        list.push_back({{"key", printed(object.key)},
                        {"conversation", printed(root_of(object.key))},
                        {"bytes", object.bytes},
                        {"age_seconds", object.age_seconds}});
    return list;
}

ExitCode list_store(const StoreCommand& command, const CommonOptions& common) {
    const auto storage = open_store(command.root, command.key_file);
    const std::vector<StoredObject> objects = objects_in(*storage, command.prefix);
    const bool colour = may_colour(common.no_color);
    if (common.json) {
        print_raw(shown_json(objects_json(objects)) + "\n");
    } else {
        print_raw(command.prefix.empty() ? groups_text(objects, colour) : objects_text(objects, colour));
    }
    return done;
}

/// The id of the key that an object is encrypted with, if it is.
std::optional<std::string> encryption_key_of([[maybe_unused]] std::string_view content) {
#if WHITTLE_HAVE_ENCRYPTION
    return encryption_key_id(content);
#else
    return std::nullopt;
#endif
}

/// What placeholders name may be the path of the object's file: then the key is what stands behind the store's root.
std::string key_of(Storage& storage, const std::string& root, const std::string& name) {
    std::error_code error;
    if (is_valid_key(name) && storage.stat(name)) return name;
    for (const std::string& folder : {root, std::filesystem::weakly_canonical(root, error).string()}) {
        if (!folder.empty() && name.starts_with(folder + "/")) return name.substr(folder.size() + 1);
    }
    return name;
}

ExitCode show_object(const StoreCommand& command) {
    const auto bare = open_bare_store(command.root);
    const std::string key = key_of(*bare, command.root, command.key);
    std::optional<std::string> content = bare->get(key);
    if (!content) throw Error(Errc::not_found, fmt::format("{}: no object \"{}\"", command.root, key));
    const std::optional<std::string> encryption_key = encryption_key_of(*content);
    if (!command.key_file.empty()) content = open_store(command.root, command.key_file)->get(key);
    if (!content) throw Error(Errc::not_found, fmt::format("{}: no object \"{}\"", command.root, key));
    if (command.raw) {
        print_raw(*content);
        return done;
    }
    if (encryption_key && command.key_file.empty()) {
        print(fmt::format("encrypted with the key \"{}\", {} bytes; only who has the key can read it\n",
                          *encryption_key, content->size()));
        return done;
    }
    if (encryption_key) print_note(fmt::format("note: encrypted with the key \"{}\"", *encryption_key));
    if (const auto note = redaction_note(*content)) {
        print_note(fmt::format("note: redacted: {} places ({}); this is not the original", note->places, note->rules));
        content->resize(content->size() - static_cast<std::size_t>(note->note_bytes));
    }
    const std::string text = printed(*content);
    if (text != *content) print_note("note: what looks like a secret is masked; --no-mask and --raw show it");
    print_raw(shown_lines(text) + (text.ends_with('\n') ? "" : "\n"));
    return done;
}

ExitCode verify_store(const StoreCommand& command, const CommonOptions& common) {
    const auto storage = open_store(command.root, command.key_file);
    const auto objects = objects_in(*storage, command.prefix);
    Progress progress;
    std::vector<std::pair<std::string, std::string>> faults;
    std::int64_t bytes = 0;
    std::int64_t read = 0;
    for (const StoredObject& object : objects) {
        throw_if_interrupted();
        progress.show({}, {static_cast<double>(++read), static_cast<double>(objects.size()), "objects"});
        try {
            bytes += static_cast<std::int64_t>(storage->get(object.key).value_or("").size());
        } catch (const Error& error) {
            faults.emplace_back(object.key, error.what());
        }
    }
    if (common.json) {
        ordered_json json{{"objects", read}, {"bytes", bytes}};
        json["damaged"] = ordered_json::array();
        for (const auto& [key, reason] : faults)
            json["damaged"].push_back({{"key", printed(key)}, {"reason", printed(reason)}});
        print_raw(shown_json(json) + "\n");
    } else {
        std::string text;
        for (const auto& [key, reason] : faults) text += shown(fmt::format("{}: {}", key, reason)) + "\n";
        print(text +
              fmt::format("{} objects, {} bytes read, {} damaged\n", grouped(read), grouped(bytes), faults.size()));
    }
    if (faults.empty()) return done;
    print_note(fmt::format("failed: {} of {} objects cannot be read back", faults.size(), read));
    return failed;
}

void add_prefix(CLI::App& sub, StoreCommand& command, const char* meaning) {
    sub.add_option("prefix", command.prefix, meaning)->type_name("PREFIX");
}

}  // namespace

CLI::App* add_store_action(CLI::App& store, StoreCommand& command, StoreCommand::Action action, const char* name,
                           const char* meaning) {
    CLI::App* sub = store.add_subcommand(name, meaning);
    sub->callback([&command, action] { command.action = action; });
    sub->add_option("root", command.root, "The directory of a file store, or the file of one in SQLite")
        ->required()
        ->type_name("STORE");
    sub->add_option("--key-file", command.key_file,
                    "Encryption keys to read with: a line each, with the id, a space and 64 hexadecimal digits")
        ->type_name("FILE");
    return sub;
}

std::string root_of(std::string_view key) { return std::string(key.substr(0, key.find('/'))); }

std::string age_text(std::int64_t seconds) {
    constexpr std::int64_t minute = 60;
    constexpr std::int64_t hour = 60 * minute;
    constexpr std::int64_t day = 24 * hour;
    if (seconds >= 2 * day) return fmt::format("{} d", seconds / day);
    if (seconds >= 2 * hour) return fmt::format("{} h", seconds / hour);
    if (seconds >= 2 * minute) return fmt::format("{} min", seconds / minute);
    return fmt::format("{} s", seconds);
}

CLI::App* add_store(CLI::App& app, StoreCommand& command, CommonOptions& common) {
    using Action = StoreCommand::Action;
    CLI::App* store = app.add_subcommand("store", "Look into a store: what is there, whether it is whole, what may go");
    store->require_subcommand(1);
    CLI::App* ls = add_store_action(*store, command, Action::list, "ls", "List conversations, or the objects of one");
    add_prefix(*ls, command, "List the objects whose keys begin with this; left out: a line per conversation");
    add_common(*ls, common);
    ls->footer(
        "Examples:\n"
        "  whittle store ls store\n"
        "  whittle store ls store talk-7/ --json");
    CLI::App* show = add_store_action(*store, command, Action::show, "show", "Print an object");
    show->add_option("key", command.key, "Its key, or the path that placeholders name")->required()->type_name("KEY");
    show->add_flag("--raw", command.raw, "The bytes as they are, for a file or a pipe");
    show->footer(
        "Examples:\n"
        "  whittle store show store talk-7/clear/c1\n"
        "  whittle store show store talk-7/clear/c1 --raw > original.txt\n\n"
        "Without --raw what would steer a terminal is escaped, and what looks like a secret masked.");
    CLI::App* verify =
        add_store_action(*store, command, Action::verify, "verify", "Read every object and check length and SHA-256");
    add_prefix(*verify, command, "Only objects whose keys begin with this");
    add_common(*verify, common);
    verify->footer(
        "Examples:\n"
        "  whittle store verify store\n\n"
        "Exit code 1 if an object cannot be read back.");
    add_store_gc(*store, command, common);
    for (CLI::App* sub : store->get_subcommands({})) add_no_mask(*sub, common);
    return store;
}

ExitCode run_store(const StoreCommand& command, const CommonOptions& common) {
    switch (command.action) {
        case StoreCommand::Action::show: return show_object(command);
        case StoreCommand::Action::verify: return verify_store(command, common);
        case StoreCommand::Action::collect: return run_store_gc(command, common);
        case StoreCommand::Action::list: break;
    }
    return list_store(command, common);
}

}  // namespace whittle::cli
