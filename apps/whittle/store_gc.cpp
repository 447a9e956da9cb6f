#include "input.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "shown.hpp"
#include "store_commands.hpp"
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;
using Keys = std::unordered_set<std::string>;

/// Of keys, and of paths that end with one.
bool may_stand_in_key(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
           c == '.' || c == '-';
}

/// Notes the keys that `word` is or ends with: a path of a store ends with the key, a sentence with a full stop.
void note_keys(std::string_view word, const Keys& keys, Keys& live) {
    constexpr std::size_t longest_path = 8'192;
    constexpr std::string_view around = "._-";
    if (word.size() > longest_path) word.remove_prefix(word.size() - longest_path);
    word.remove_prefix(std::min(word.size(), word.find_first_not_of(around)));
    while (!word.empty()) {
        for (std::size_t start = 0; start < word.size();) {
            if (const auto key = keys.find(std::string(word.substr(start))); key != keys.end()) live.insert(*key);
            const std::size_t slash = word.find('/', start);
            start = slash == std::string_view::npos ? word.size() : slash + 1;
        }
        if (around.find(word.back()) == std::string_view::npos) return;
        word.remove_suffix(1);
    }
}

/// JSON may write "/" as "\/", and JSON in JSON with more of them.
std::string without_escaped_slashes(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (const char c : text) {
        if (c == '/') plain.erase(plain.find_last_not_of('\\') + 1);
        plain += c;
    }
    return plain;
}

/// The keys that stand anywhere in `text`, which may be JSON: behind a backslash the letter of an escape is none of the
/// key. In doubt a key is live.
void note_live(const std::string& text, const Keys& keys, Keys& live) {
    constexpr std::size_t unicode_escape = 5;  // u and four digits
    for (std::size_t at = 0; at < text.size();) {
        if (!may_stand_in_key(text[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && may_stand_in_key(text[end])) ++end;
        const std::string_view word = std::string_view(text).substr(at, end - at);
        note_keys(word, keys, live);
        const bool is_escaped = at > 0 && text[at - 1] == '\\';
        if (is_escaped) note_keys(word.substr(1), keys, live);
        if (is_escaped && word.front() == 'u' && word.size() > unicode_escape)
            note_keys(word.substr(unicode_escape), keys, live);
        at = end;
    }
}

/// What a fork may read is listed in an object that no message names: it lives if the fork's id stands in a file.
bool is_list_of_live_fork(std::string_view key, const Keys& live) {
    const std::string root = root_of(key);
    return key.substr(std::min(key.size(), root.size() + 1)).starts_with("whittle-roots") && live.contains(root);
}

/// Logs of durable conversations stand in the store that they refer to (docs/durable.md): they are what is live.
bool is_log(std::string_view key) { return key.starts_with("whittle-log/"); }

/// The log's object, its conversation, whose lists of a fork lie below that name, and all that it refers to.
void note_log(Storage& storage, const std::string& key, const Keys& keys, Keys& live) {
    live.insert(key);
    live.insert(root_of(key.substr(key.find('/') + 1)));
    if (const auto content = storage.get(key)) note_live(without_escaped_slashes(*content), keys, live);
}

struct Sorted {
    std::vector<StoredObject> garbage{};
    std::int64_t referred = 0;
    std::int64_t young = 0;
};

Sorted sort_objects(const StoreCommand& command, Storage& storage, std::vector<StoredObject> objects) {
    Keys keys;
    for (const StoredObject& object : objects) {
        keys.insert(object.key);
        keys.insert(root_of(object.key));
    }
    Keys live;
    for (const std::string& file : command.live) {
        const std::string text = read_all(file, InputLimits{.max_bytes = 0, .max_ratio = 0});
        throw_if_interrupted();
        note_live(without_escaped_slashes(text), keys, live);
    }
    for (const StoredObject& object : objects) {
        if (is_log(object.key)) note_log(storage, object.key, keys, live);
        throw_if_interrupted();
    }
    Sorted sorted;
    constexpr std::int64_t seconds_per_hour = 3'600;
    for (StoredObject& object : objects) {
        if (live.contains(object.key) || is_list_of_live_fork(object.key, live)) {
            ++sorted.referred;
        } else if (object.age_seconds / seconds_per_hour < command.older_than_hours) {
            ++sorted.young;
        } else {
            sorted.garbage.push_back(std::move(object));
        }
    }
    return sorted;
}

std::int64_t bytes_of(const std::vector<StoredObject>& objects) {
    std::int64_t bytes = 0;
    for (const StoredObject& object : objects) bytes += object.bytes;
    return bytes;
}

std::string sorted_text(const Sorted& sorted, bool removed) {
    std::string text;
    for (const StoredObject& object : sorted.garbage)
        text +=
            fmt::format("{}  {} bytes, {}\n", shown(object.key), grouped(object.bytes), age_text(object.age_seconds));
    text += fmt::format("{} objects with {} bytes {}; {} stay since a file refers to them, {} since they are young\n",
                        grouped(static_cast<std::int64_t>(sorted.garbage.size())), grouped(bytes_of(sorted.garbage)),
                        removed ? "removed" : "would be removed with --yes", grouped(sorted.referred),
                        grouped(sorted.young));
    return text;
}

ordered_json sorted_json(const Sorted& sorted, bool removed) {
    ordered_json json{{"removed", removed},
                      {"bytes", bytes_of(sorted.garbage)},
                      {"referred", sorted.referred},
                      {"young", sorted.young}};
    json["objects"] = ordered_json::array();
    for (const StoredObject& object : sorted.garbage)
        json["objects"].push_back({{"key", object.key}, {"bytes", object.bytes}, {"age_seconds", object.age_seconds}});
    return json;
}

}  // namespace

ExitCode run_store_gc(const StoreCommand& command, const CommonOptions& common) {
    const auto storage = open_store(command.root);
    // The store first: what is written after that is not looked at, and what refers to it is read later.
    const Sorted sorted = sort_objects(command, *storage, objects_in(*storage, command.root));
    if (command.yes) {
        for (const StoredObject& object : sorted.garbage) {
            throw_if_interrupted();
            storage->remove(object.key);
        }
    }
    print(common.json ? shown_json(sorted_json(sorted, command.yes)) + "\n" : sorted_text(sorted, command.yes));
    return done;
}

}  // namespace whittle::cli
