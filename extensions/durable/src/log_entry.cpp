#include "log_entry.hpp"

#include "edit_json.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"
#include "whittle/provider/detail/json_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace whittle::inline v0::detail {

namespace {

constexpr std::int64_t log_version = 2;  // 2: counters have `sent`
constexpr std::string_view entry_magic = "whittle-log";
constexpr std::string_view snapshot_magic = "whittle-snapshot";
constexpr std::size_t number_digits = 12;
constexpr std::size_t sha256_digits = 64;
constexpr std::array<std::string_view, 6> log_entry_kinds{"create", "open", "commit", "renew", "release", "fork"};

/// Of what the first line says, too.
std::string frame_hash(std::string_view magic, std::int64_t version, std::string_view body) {
    Sha256 hash;
    hash.update(fmt::format("{} {}\n", magic, version));
    hash.update(body);
    return hash.hex_digest();
}

/// One line that says what follows, then what follows. The line is the same in every version of the format.
std::string framed(std::string_view magic, std::string_view body, const std::string& sha256) {
    return fmt::format("{} {} {}\n{}", magic, log_version, sha256, body);
}

[[noreturn]] void fail_frame(std::string_view key, std::string_view reason) {
    throw Error(Errc::damaged, fmt::format("read \"{}\": {}", key, reason));
}

struct Frame {
    std::string_view body{};
    std::string sha256{};
};

/// Only a whole object may say that it is of another version: half a number is another number.
Frame frame_of(std::string_view bytes, std::string_view magic, std::string_view key) {
    const std::size_t line = bytes.find('\n');
    std::string_view head = bytes.substr(0, line);
    const bool begins_right = head.starts_with(magic) && head.substr(magic.size()).starts_with(' ');
    if (line == std::string_view::npos || !begins_right)
        fail_frame(key, fmt::format("it does not begin as a {} does", magic));
    head.remove_prefix(magic.size() + 1);
    std::int64_t version = 0;
    const auto [end, error] = std::from_chars(head.data(), head.data() + head.size(), version);
    const std::string_view digits(end, static_cast<std::size_t>(head.data() + head.size() - end));
    if (error != std::errc() || version < 1 || digits.size() != sha256_digits + 1 || digits.front() != ' ')
        fail_frame(key, "its first line is broken");
    Frame frame{.body = bytes.substr(line + 1), .sha256 = std::string(digits.substr(1))};
    if (const std::string found = frame_hash(magic, version, frame.body); found != frame.sha256)
        fail_frame(key, fmt::format("its {} bytes have the SHA-256 {}, not {}", bytes.size(), found, frame.sha256));
    if (version > log_version) {
        throw Error(Errc::parse_failed,
                    fmt::format("read \"{}\": {} of version {} is not known; this library reads versions up to {}", key,
                                magic, version, log_version));
    }
    return frame;
}

/// What does not read although its hash is right was never written by us.
template <typename Read>
auto read_body(std::string_view key, Read&& read) {
    try {
        return read();
    } catch (const Error& error) {
        if (error.errc() != Errc::parse_failed) throw;
        fail_frame(key, error.what());
    }
}

std::string name_in(ObjectReader& reader, const char* name) {
    std::string text = reader.bytes(name);
    if (!text.empty() && !is_safe_name(text)) fail_side_table(reader.place(name), "not a safe name");
    return text;
}

ordered_json json_of_fork(const LogFork& fork) { return {{"child", fork.child}, {"number", fork.number}}; }

LogFork fork_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    LogFork fork{.child = name_in(reader, "child"), .number = reader.serial("number")};
    reader.done();
    return fork;
}

LogState state_of(const ordered_json& json) {
    ObjectReader reader(json, "snapshot");
    LogState state{.number = reader.serial("number"),
                   .sha256 = reader.bytes("sha256"),
                   .writer = name_in(reader, "writer"),
                   .token = reader.serial("token"),
                   .until = reader.integer("until", INT64_MIN, INT64_MAX),
                   .released = reader.flag("released")};
    read_array(reader.find("forks"), reader.place("forks"), [&](const ordered_json& element, const std::string& place) {
        state.forks.push_back(fork_of(element, place));
    });
    reader.done();
    return state;
}

}  // namespace

LogPlace::LogPlace(std::string_view root, std::string_view id)
    : id_(id), entries_(fmt::format("{}/{}/log/", root, id)), snapshots_(fmt::format("{}/{}/snapshot/", root, id)) {}

std::string LogPlace::entry(std::uint64_t number) const { return fmt::format("{}{:012}", entries_, number); }

std::string LogPlace::snapshot(std::uint64_t number) const { return fmt::format("{}{:012}", snapshots_, number); }

std::uint64_t number_of_key(std::string_view key, std::string_view prefix) {
    std::uint64_t number = 0;
    if (!key.starts_with(prefix)) return 0;
    key.remove_prefix(prefix.size());
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
    return error == std::errc() && key.size() == number_digits && end == key.data() + key.size() ? number : 0;
}

std::string write_entry(LogEntry& entry) {
    ordered_json json{{"number", entry.number},   {"kind", log_entry_kinds.at(static_cast<std::size_t>(entry.kind))},
                      {"writer", entry.writer},   {"token", entry.token},
                      {"attempt", entry.attempt}, {"when", entry.when},
                      {"until", entry.until}};
    if (entry.previous > 0) {
        json["previous"] = entry.previous;
        json["previous_sha256"] = entry.previous_sha256;
    }
    if (!entry.other.empty()) json["other"] = entry.other;
    if (entry.other_number > 0) json["other_number"] = entry.other_number;
    if (entry.edit) json["edit"] = json_of_edit(*entry.edit);
    const std::string body = json.dump();
    entry.sha256 = frame_hash(entry_magic, log_version, body);
    return framed(entry_magic, body, entry.sha256);
}

LogEntry read_entry(std::string_view bytes, std::string_view key) {
    const Frame frame = frame_of(bytes, entry_magic, key);
    return read_body(key, [&] {
        const ordered_json json = parse_json("read a log", frame.body, {.max_bytes = SIZE_MAX});
        ObjectReader reader(json, "entry");
        LogEntry entry{.number = reader.serial("number"), .writer = name_in(reader, "writer")};
        entry.kind = static_cast<LogEntryKind>(reader.word("kind", log_entry_kinds));
        entry.token = reader.serial("token");
        entry.attempt = reader.bytes("attempt");
        entry.when = reader.integer("when", INT64_MIN, INT64_MAX);
        entry.until = reader.integer("until", INT64_MIN, INT64_MAX);
        entry.previous = reader.serial("previous");
        entry.previous_sha256 = reader.bytes("previous_sha256");
        entry.other = name_in(reader, "other");
        entry.other_number = reader.serial("other_number");
        if (const ordered_json* const edit = reader.find("edit")) entry.edit = edit_of(*edit, "edit");
        reader.done();
        if (entry.edit.has_value() != (entry.kind == LogEntryKind::commit))
            fail_side_table("entry", "an edit where none belongs, or none where one does");
        entry.sha256 = frame.sha256;
        return entry;
    });
}

std::string write_log_snapshot(const LogState& state, const SavedDocument& document) {
    ordered_json json{{"number", state.number},
                      {"sha256", state.sha256},
                      {"writer", state.writer},
                      {"token", state.token},
                      {"until", state.until}};
    if (state.released) json["released"] = true;
    for (const LogFork& fork : state.forks) json["forks"].push_back(json_of_fork(fork));
    const std::string body = json.dump() + "\n" + write_document(document);
    return framed(snapshot_magic, body, frame_hash(snapshot_magic, log_version, body));
}

LogSnapshot read_log_snapshot(std::string_view bytes, std::string_view key) {
    const Frame frame = frame_of(bytes, snapshot_magic, key);
    return read_body(key, [&] {
        const std::size_t end = std::min(frame.body.find('\n'), frame.body.size());
        const ordered_json json = parse_json("read a snapshot", frame.body.substr(0, end), {.max_bytes = SIZE_MAX});
        LogSnapshot snapshot{.state = state_of(json),
                             .document = read_document(frame.body.substr(std::min(end + 1, frame.body.size())))};
        snapshot.state.snapshot = snapshot.state.number;
        snapshot.state.snapshot_after_bytes = static_cast<std::int64_t>(bytes.size());
        snapshot.state.next = snapshot.state.number + 1;
        return snapshot;
    });
}

}  // namespace whittle::inline v0::detail
