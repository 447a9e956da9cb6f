#include "apply_tables.hpp"

#include "input.hpp"
#include "output.hpp"
#include "same_file.hpp"
#include "system.hpp"
#include "whittle/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <istream>
#include <system_error>
#include <utility>

namespace whittle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kept_suffix = ".kept";

std::string table_next_to(const std::string& given, const std::string& file) {
    if (!given.empty()) return given;
    return file.empty() || file == "-" ? std::string() : file + ".whittle.json";
}

/// ".talk.json.whittle.json.": what names of kept tables start with.
std::string kept_prefix(const fs::path& table) { return "." + table.filename().string() + "."; }

/// Those beside `table`, which is behind its links, sorted by name.
std::vector<fs::path> kept_next_to(const fs::path& table) {
    const std::string prefix = kept_prefix(table);
    std::vector<fs::path> kept;
    std::error_code error;
    for (fs::directory_iterator at(table.parent_path().empty() ? "." : table.parent_path(), error), end;
         !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(kept_suffix)) kept.push_back(at->path());
    }
    std::ranges::sort(kept);
    return kept;
}

/// Of what the file holds; in blocks, since nobody says how large it is.
std::string hash_of_file(const std::string& path) {
    InputBuffer buffer(path, InputLimits{.max_bytes = 0, .max_ratio = 0});
    std::array<char, 65'536> block{};
    Hash128 hash;
    for (std::streamsize got = 1; got > 0;) {
        got = buffer.sgetn(block.data(), block.size());
        hash = hash128({block.data(), static_cast<std::size_t>(std::max<std::streamsize>(got, 0))}, hash);
    }
    return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

/// Gives the table that is there a second name, which stays when the first one gets another file. An empty file says
/// that there was none. What is kept already was kept by a run that was killed, and belongs to these same bytes.
void keep_table(const fs::path& table, const std::string& conversation) {
    if (!fs::exists(conversation) || system::is_special(conversation) || system::is_special(table.string())) return;
    const std::string name = kept_prefix(table) + hash_of_file(conversation) + std::string(kept_suffix);
    const fs::path kept = table.parent_path() / name;
    std::error_code error;
    if (fs::exists(kept, error)) return;
    if (!fs::exists(table, error)) {
        OutputFile none(kept.string());
        return none.commit();
    }
    fs::create_hard_link(table, kept, error);
    if (!error) return;
    OutputFile copy(kept.string());  // not every file system has links
    copy.write(read_all(table.string(), InputLimits{.max_bytes = 0, .max_ratio = 0}));
    copy.commit();
}

void drop_kept(const fs::path& table) {
    std::error_code ignored;
    for (const fs::path& kept : kept_next_to(table)) fs::remove(kept, ignored);
}

}  // namespace

ApplyPaths paths_of(const ApplyCommand& command) {
    const std::string in_table = table_next_to(command.in_table, command.in);
    const std::string out_table = table_next_to(command.out_table, command.out);
    const char* const in_name = command.in_table.empty() ? "the side table of --in" : "--in-table";
    const char* const out_name = command.out_table.empty() ? "the side table of --out" : "--out-table";
    const NamedPath config{"--config", command.config.file};
    require_different_files({config, {"--in", command.in}, {in_name, in_table}});
    require_different_files({{"--out", command.out}, {out_name, out_table}});
    const auto is_file = [](const std::string& path) { return path != "-"; };
    if (is_file(command.out)) {
        require_different_files({config, {"--out", command.out}});
        require_different_files({{in_name, in_table}, {"--out", command.out}});
    }
    if (is_file(out_table)) {
        require_different_files({config, {out_name, out_table}});
        require_different_files({{"--in", command.in}, {out_name, out_table}});
    }
    const bool replaces_input = is_file(command.in) && is_same_file(command.in, command.out);
    if (replaces_input && command.out_table.empty() && !is_same_file(in_table, out_table))
        throw UsageError{
            fmt::format("--in {} and --out {} are the same file, but their side tables are not: {} and {}; "
                        "say with --out-table which one to write",
                        command.in, command.out, in_table, out_table)};
    return {in_table, out_table, !command.in_table.empty()};
}

std::vector<TableText> tables_at(const std::string& path, const InputLimits& limits) {
    std::vector<TableText> tables;
    if (path == "-" || fs::exists(path)) tables.push_back({path, read_all(path, limits)});
    if (path == "-") return tables;
    for (const fs::path& kept : kept_next_to(resolve_links(path))) {
        tables.push_back({kept.string(), read_all(kept.string(), limits)});
        tables.back().was_none = tables.back().text.empty();
    }
    return tables;
}

void replace_both(const std::string& conversation, std::string_view conversation_bytes, const std::string& table,
                  std::string_view table_bytes) {
    OutputFile out(conversation);
    out.write(conversation_bytes);
    if (table.empty()) return out.commit();
    OutputFile side(table);
    side.write(table_bytes);
    const bool are_files = conversation != "-" && table != "-";
    const fs::path resolved = resolve_links(table);
    if (are_files) keep_table(resolved, conversation);
    side.commit();
    out.commit();
    if (are_files) drop_kept(resolved);
}

}  // namespace whittle::cli
