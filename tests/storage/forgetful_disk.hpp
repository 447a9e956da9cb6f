// A model of a disk that loses, when the power fails, what was not synced.
#pragma once

#include "posix_tools.hpp"

#include <random>
#include <set>

namespace whittle::testing {

/// Which names reach the disk without an fsync of their directory.
enum class Names { synced_only, all, any };

/// Lets a file storage work in a real directory, and notes what fdatasync (the content of a file) and fsync (the names
/// in a directory) would have brought to the disk. Of a file that was not synced, anything up to all its bytes is lost.
class ForgetfulDisk {
public:
    explicit ForgetfulDisk(std::filesystem::path root) : root_(std::move(root)) {
        std::filesystem::create_directory(root_);
        std::filesystem::permissions(root_, std::filesystem::perms::owner_all);
    }

    /// Called before every call that changes something.
    std::function<void()> before_change = [] {};

    /// Calls on this disk, which must outlive them.
    [[nodiscard]] FileOps ops() {
        FileOps ops;
        ops.open = [this](NativeFile at, const char* path, OpenAs how) {
            if (how == OpenAs::new_file || how == OpenAs::lock_file) before_change();
            const NativeFile file = FileSystem::open(at, path, how);
            if (file != no_file && how == OpenAs::new_file) id_of_new(inode_of(file));
            return file;
        };
        ops.make_directory = [this](NativeFile at, const char* path) {
            before_change();
            if (FileSystem::make_directory(at, path) != 0) return -1;
            FileStatus status;
            if (FileSystem::status_at(at, path, status) == 0) id_of_new(status.id.second);
            return 0;
        };
        ops.write = [this](NativeFile file, const void* data, std::size_t size) {
            return before_change(), FileSystem::write(file, data, size);
        };
        ops.sync_data = [this](NativeFile file) { return before_change(), note_content(file), 0; };
        ops.sync_names = [this](NativeFile file) { return before_change(), note_names(file), 0; };
        ops.rename = [this](NativeFile from, const char* a, NativeFile to, const char* b) {
            return before_change(), FileSystem::rename(from, a, to, b);
        };
        ops.link = [this](NativeFile from, const char* a, NativeFile to, const char* b) {
            return before_change(), FileSystem::link(from, a, to, b);
        };
        ops.remove = [this](NativeFile at, const char* name) { return before_change(), FileSystem::remove(at, name); };
        return ops;
    }

    /// Makes the directory `after` what is found when the power is back.
    void fail_power(const std::filesystem::path& after, Names names, std::mt19937& random) {
        live_names_.clear();
        live_content_.clear();
        look_at(root_);
        restore(id_of(inode_of(root_)), after, names, random);
    }

private:
    using Id = std::uint64_t;  ///< of a file or directory; inode numbers are used again, these are not
    using Listing = std::map<std::string, Id>;

    static std::uint64_t inode_of(NativeFile file) {
        FileStatus status;
        return FileSystem::status_of(file, status) == 0 ? status.id.second : 0;
    }
    static std::uint64_t inode_of(const std::filesystem::path& path) {
        FileStatus status;
        return FileSystem::status_at(working_directory, path.c_str(), status) == 0 ? status.id.second : 0;
    }
    static std::filesystem::path path_of(NativeFile fd) { return "/proc/self/fd/" + std::to_string(fd); }

    Id id_of_new(std::uint64_t inode) { return ids_[inode] = ++last_id_; }
    Id id_of(std::uint64_t inode) {
        const auto found = ids_.find(inode);
        return found == ids_.end() ? id_of_new(inode) : found->second;
    }

    Listing names_in(const std::filesystem::path& directory) {
        Listing names;
        for (const auto& entry : std::filesystem::directory_iterator(directory)) {
            const Id id = names[entry.path().filename().string()] = id_of(inode_of(entry.path()));
            if (entry.is_directory()) directories_.insert(id);
        }
        return names;
    }

    void note_content(NativeFile fd) { synced_content_[id_of(inode_of(fd))] = bytes_of(path_of(fd)); }
    void note_names(NativeFile fd) {
        synced_names_[id_of(inode_of(fd))] = names_in(std::filesystem::read_symlink(path_of(fd)));
    }

    void look_at(const std::filesystem::path& directory) {
        const Listing names = names_in(directory);
        live_names_[id_of(inode_of(directory))] = names;
        for (const auto& [name, id] : names) {
            if (directories_.contains(id)) {
                look_at(directory / name);
            } else {
                live_content_[id] = bytes_of(directory / name);
            }
        }
    }

    Listing names_after(Id directory, Names names, std::mt19937& random) {
        const Listing& live = live_names_[directory];
        const Listing& synced = synced_names_[directory];
        if (names != Names::any) return names == Names::all ? live : synced;
        Listing both = live;
        both.insert(synced.begin(), synced.end());
        Listing after;
        for (const auto& [name, ignored] : both) {
            const Listing& chosen = random() % 2 == 0 ? live : synced;
            if (const auto found = chosen.find(name); found != chosen.end()) after.insert(*found);
        }
        return after;
    }

    std::string content_after(Id file, Names names, std::mt19937& random) {
        if (const auto synced = synced_content_.find(file); synced != synced_content_.end()) return synced->second;
        std::string content = live_content_[file];
        switch (names == Names::any ? random() % 3 : 0) {
            case 0: return {};
            case 1: return content.substr(0, content.size() / 2);
            default: return std::string(content.size(), '\0');
        }
    }

    void restore(Id directory, const std::filesystem::path& to, Names names, std::mt19937& random) {
        std::filesystem::create_directory(to);
        std::filesystem::permissions(to, std::filesystem::perms::owner_all);
        for (const auto& [name, id] : names_after(directory, names, random)) {
            if (directories_.contains(id)) {
                restore(id, to / name, names, random);
            } else {
                overwrite(to / name, content_after(id, names, random));
            }
        }
    }

    std::filesystem::path root_;
    std::map<std::uint64_t, Id> ids_;
    Id last_id_ = 0;
    std::set<Id> directories_;
    std::map<Id, std::string> synced_content_;
    std::map<Id, Listing> synced_names_;
    std::map<Id, std::string> live_content_;
    std::map<Id, Listing> live_names_;
};

}  // namespace whittle::testing
