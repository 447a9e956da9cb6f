#include "sandbox.hpp"

#include <whittle/base/error.hpp>

#include <algorithm>

namespace agent {
namespace {

namespace fs = std::filesystem;
using whittle::Errc;
using whittle::Error;

fs::path resolve_place(const fs::path& path, std::string_view what) {
    std::error_code error;
    fs::path resolved = fs::canonical(path, error);
    if (error)
        throw Error(Errc::not_found,
                    "open the " + std::string(what) + " \"" + path.string() + "\": " + error.message());
    return resolved;
}

fs::path resolve_workspace(const fs::path& path) {
    fs::path resolved = resolve_place(path, "workspace");
    std::error_code error;
    if (!fs::is_directory(resolved, error))
        throw Error(Errc::not_found, "open the workspace \"" + path.string() + "\": it is not a directory");
    return resolved;
}

/// "/a/bc" is not inside "/a/b".
bool is_inside(const fs::path& path, const fs::path& directory) {
    return std::mismatch(directory.begin(), directory.end(), path.begin(), path.end()).first == directory.end();
}

fs::path resolve(const fs::path& workspace, std::string_view path) {
    if (path.find('\0') != std::string_view::npos)
        throw Error(Errc::invalid_argument, "open a path: it has a zero byte");
    std::error_code error;
    fs::path resolved = fs::canonical(workspace / fs::path(path), error);
    if (error) throw Error(Errc::not_found, "open \"" + std::string(path) + "\": " + error.message());
    return resolved;
}

[[noreturn]] void refuse(std::string_view path, std::string_view reason) {
    throw Error(Errc::invalid_argument, "open \"" + std::string(path) + "\": refused, it is " + std::string(reason));
}

}  // namespace

Sandbox::Sandbox(const fs::path& workspace, const fs::path& store)
    : workspace_(resolve_workspace(workspace)), store_(store.empty() ? fs::path() : resolve_place(store, "store")) {}

/// Of a folder, what is inside; of a file of SQLite, that and its log and index beside it.
bool Sandbox::is_of_store(const fs::path& resolved) const {
    if (store_.empty()) return false;
    return is_inside(resolved, store_) || resolved == fs::path(store_.string() + "-wal") ||
           resolved == fs::path(store_.string() + "-shm");
}

fs::path Sandbox::allowed(std::string_view path) const {
    fs::path resolved = resolve(workspace_, path);
    if (!is_inside(resolved, workspace_)) refuse(path, "outside the workspace");
    if (is_of_store(resolved))
        refuse(path, "in the store of originals: read what a placeholder names with read_offloaded");
    return resolved;
}

fs::path Sandbox::allowed_file(std::string_view path) const {
    fs::path resolved = allowed(path);
    std::error_code error;
    if (!fs::is_regular_file(resolved, error))
        throw Error(Errc::invalid_argument, "open \"" + std::string(path) + "\": it is not a regular file");
    return resolved;
}

std::string Sandbox::shown(const fs::path& resolved) const {
    return is_inside(resolved, workspace_) ? resolved.lexically_relative(workspace_).string() : resolved.string();
}

}  // namespace agent
