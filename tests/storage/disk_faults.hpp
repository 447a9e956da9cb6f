// Full and read-only disks, as any store on them meets them: small file systems that only a child sees, on Linux.
#pragma once

#include "posix_tools.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

namespace whittle::testing {

/// Opens the store that lies below `folder`.
using OpenBelow = std::function<std::shared_ptr<Storage>(const std::string& folder)>;

/// In a child: mounts of its own, which vanish with it. Empty, or why not.
inline std::string own_mounts() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return skipped("no mounts of our own");
    if (user != 0) {
        overwrite("/proc/self/uid_map", fmt::format("{} {} 1", user, user));
        overwrite("/proc/self/setgroups", "deny");
        overwrite("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
    }
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return skipped("no private mounts");
    return {};
}

/// Puts until the disk is full; the error.
inline std::string fill(Storage& storage, std::vector<std::string>& stored, std::size_t bytes) {
    return error_of([&] {
        for (int i = 0; i < 10'000; ++i) {
            const std::string key = "c/" + std::to_string(i);
            storage.put_if_absent(key, std::string(bytes, 'x'));
            stored.push_back(key);
        }
    });
}

/// The disk of use_full_disk: options of its mount, and of another once it is full, if the store needs room to remove.
struct SmallDisk {
    std::string options{};
    std::string enlarged{};
};

/// In a child: fills a disk with objects of `bytes`.
inline std::string use_full_disk(const OpenBelow& open, const std::string& folder, const SmallDisk& disk,
                                 std::size_t bytes, const char* expected) {
    if (const std::string why = own_mounts(); !why.empty()) return why;
    const std::string options = "mode=700," + disk.options;
    if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) != 0) return skipped("no tmpfs");
    const auto storage = open(folder);
    std::vector<std::string> stored;
    const std::string error = fill(*storage, stored, bytes);
    if (!contains(error, expected)) return "unexpected: " + error;
    if (errc_of([&] { write_streaming(*storage, "stream", std::string(4'000'000, 's')); }) != Errc::storage_failed)
        return "a stream fitted on the full disk";
    if (temporary_files_below(folder) != 0) return "litter";
    for (const std::string& key : stored) {
        if (storage->get(key) != std::string(bytes, 'x')) return "lost " + key;
    }
    if (keys_below(*storage, "").size() != stored.size()) return "something else was stored";
    if (!disk.enlarged.empty() && ::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT, disk.enlarged.c_str()) != 0)
        return skipped("no larger tmpfs");
    for (std::size_t i = 0; i < stored.size() / 2 + 1; ++i) (void)storage->remove(stored[i]);
    storage->put_if_absent("after", "x");
    if (storage->get("after") != "x") return "not usable";
    return open(folder)->get("after") == "x" ? "full, then usable" : "not usable when opened anew";
}

/// In a child: makes the file system that `folder` lies on read-only, and uses the store there.
inline std::string use_read_only_disk(const OpenBelow& open, const std::string& folder) {
    if (const std::string why = own_mounts(); !why.empty()) return why;
    if (::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) != 0) return skipped("no bind mount");
    if (::mount(nullptr, folder.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0)
        return skipped("no read-only mount");
    return use_read_only_store(*open(folder));
}

}  // namespace whittle::testing
