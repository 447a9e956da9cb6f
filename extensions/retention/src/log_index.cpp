#include "log_index.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace whittle::inline v0::retention {
namespace {

/// Of "log/000000000012"; 0 for any other text.
std::uint64_t entry_number(std::string_view name) {
    constexpr std::string_view folder = "log/";
    std::uint64_t number = 0;
    if (!name.starts_with(folder)) return 0;
    name.remove_prefix(folder.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    return error == std::errc() && end == name.data() + name.size() ? number : 0;
}

}  // namespace

std::string entry_key(std::string_view root, std::string_view id, std::uint64_t number) {
    return fmt::format("{}/{}/log/{:012}", root, id, number);
}

std::optional<LogKey> log_key_of(std::string_view key, const std::vector<std::string>& roots) {
    const std::size_t first = key.find('/');
    const std::size_t second = first == std::string_view::npos ? first : key.find('/', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const std::string_view root = key.substr(0, first);
    if (std::ranges::find(roots, root) == roots.end()) return std::nullopt;
    return LogKey{root, key.substr(first + 1, second - first - 1), entry_number(key.substr(second + 1))};
}

void add_to(Logs& logs, const LogKey& key, const ObjectInfo& object) {
    const auto [found, is_new] = logs.try_emplace(std::string(key.id));
    Log& log = found->second;
    log.root = key.root;
    log.newest = std::max(log.newest, object.stored_at_seconds);
    log.is_time_known = log.is_time_known && object.stored_at_seconds > 0;
    log.has_first = log.has_first || key.entry == 1;
}

std::string parent_of(Storage& storage, std::string_view id, const Log& log) {
    if (!log.has_first) return {};
    const std::string key = entry_key(log.root, id, 1);
    const std::optional<std::string> entry = storage.get(key);
    if (!entry) return {};  // a snapshot has taken its place
    const std::size_t body = entry->find('\n');
    const auto json = body == std::string::npos
                          ? nlohmann::json(nlohmann::json::value_t::discarded)
                          : nlohmann::json::parse(std::string_view(*entry).substr(body + 1), nullptr, false);
    if (!json.is_object())
        throw Error(Errc::damaged, fmt::format("read \"{}\": it is no entry of a log, so that nobody knows which "
                                               "conversation it branches off",
                                               key));
    const auto other = json.find("other");
    return json.value("kind", "") == "create" && other != json.end() && other->is_string() ? other->get<std::string>()
                                                                                           : std::string();
}

void note_branches(Storage& storage, Logs& logs) {
    std::vector<std::string> readers;
    for (const auto& [id, log] : logs) {
        if (log.state == Log::State::live) readers.push_back(id);
    }
    for (std::size_t i = 0; i < readers.size(); ++i) {
        const std::string parent = parent_of(storage, readers[i], logs.at(readers[i]));
        const auto found = logs.find(parent);
        if (found == logs.end() || found->second.is_read()) continue;
        found->second.needed_by = readers[i];
        readers.push_back(parent);
    }
}

}  // namespace whittle::inline v0::retention
