// What the durability settings promise, on a disk that forgets what was not synced.
#include "forgetful_disk.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace whittle;
using testing::errc_of;
using testing::ForgetfulDisk;
using testing::Names;
using testing::TempDir;

namespace {

/// What a caller knows: the acknowledged state of each key, and the key that it was changing.
struct Known {
    std::map<std::string, std::optional<std::string>> keys{};
    std::map<std::string, std::vector<std::string>> ever_put{};
    std::string open{};
};

std::string content_of(const std::string& key) { return key + std::string(700, 'x') + key; }

void put(Storage& storage, Known& known, const std::string& key, const std::string& content) {
    known.open = key;
    known.ever_put[key].push_back(content);
    storage.put_if_absent(key, content);
    known.keys[key] = content;
}

/// Puts, streams, removes, puts again.
void work(Storage& storage, Known& known) {
    for (const std::string key : {"c1/one", "c1/two", "c2/deep/three"}) put(storage, known, key, content_of(key));
    known.open = "c1/four";
    known.ever_put["c1/four"] = {content_of("c1/four")};
    testing::write_streaming(storage, "c1/four", content_of("c1/four"));
    known.keys["c1/four"] = content_of("c1/four");
    known.open = "c1/one";
    (void)storage.remove("c1/one");
    known.keys["c1/one"] = std::nullopt;
    put(storage, known, "c1/one", "the second");
    put(storage, known, "top", content_of("top"));
    known.open.clear();
}

/// What a read after the power failure finds: "kept", "absent", "damaged", "old" or "wrong".
std::string fate_of(Storage& storage, const Known& known, const std::string& key) {
    std::optional<std::string> found;
    const auto error = errc_of([&] { found = storage.get(key); });
    if (error) return error == Errc::damaged ? "damaged" : "wrong";
    const auto state = known.keys.find(key);
    if (state != known.keys.end() && found == state->second) return "kept";
    if (!found) return "absent";
    const std::vector<std::string>& put = known.ever_put.at(key);
    return std::find(put.begin(), put.end(), *found) != put.end() ? "old" : "wrong";
}

/// Lets `work` run and fails the power before the `at`-th change (from 1). False if there were fewer changes.
bool fail_power_at(int at, Durability durability, Names names, std::mt19937& random, const TempDir& dir, Known& known) {
    ForgetfulDisk disk(dir / "store");
    Known now;
    int changes = 0;
    disk.before_change = [&] {
        if (++changes != at) return;
        disk.fail_power(dir / "after", names, random);
        known = now;
    };
    work(*file_storage_on(disk.ops(), dir / "store", {.durability = durability}), now);
    return changes >= at;
}

/// How often each fate met an acknowledged key, over power failures at every change.
std::map<std::string, int> fates_of(Durability durability, Names names) {
    std::map<std::string, int> fates;
    std::mt19937 random(7);
    for (int at = 1;; ++at) {
        const TempDir dir(testing::in_memory());
        Known known;
        if (!fail_power_at(at, durability, names, random, dir, known)) break;
        const auto storage = file_storage_on(testing::ops_without_sync(), dir / "after", {});
        for (const auto& [key, contents] : known.ever_put) {
            const std::string fate = fate_of(*storage, known, key);
            if (fate == "wrong") FAIL_CHECK("wrong content of " << key << " after change " << at);
            if (key != known.open) ++fates[fate];
            (void)storage->remove(key);
            storage->put_if_absent(key, contents.back());
            CHECK(storage->get(key) == contents.back());
        }
    }
    return fates;
}

}  // namespace

TEST_CASE("with durability full, a power failure takes nothing that was acknowledged", "[storage][file]") {
    const Names names = GENERATE(Names::synced_only, Names::all, Names::any);
    auto fates = fates_of(Durability::full, names);
    CHECK(fates["kept"] > 100);
    CHECK(fates.size() == 1);
}

TEST_CASE("with durability data, an object whose names reached the disk is whole", "[storage][file]") {
    auto fates = fates_of(Durability::data, Names::all);
    CHECK(fates["kept"] > 100);
    CHECK(fates.size() == 1);
}

TEST_CASE("with durability data, an object whose name was lost is absent, not torn", "[storage][file]") {
    auto lost = fates_of(Durability::data, Names::synced_only);
    CHECK(lost["absent"] > 100);
    CHECK(lost["damaged"] == 0);
    auto partly = fates_of(Durability::data, Names::any);
    CHECK(partly["kept"] > 0);
    CHECK(partly["damaged"] > 0);  // the object's name was kept, its sidecar's lost
}

TEST_CASE("with durability none, a power failure takes acknowledged objects, and what is torn is noticed",
          "[storage][file]") {
    auto fates = fates_of(Durability::none, Names::all);
    CHECK(fates["damaged"] > 100);
    CHECK(fates["kept"] == 0);
}

TEST_CASE("the same content put again mends an object that a power failure tore", "[storage][file]") {
    const TempDir dir;
    const std::string content = content_of("c/k");
    const auto storage = file_storage_on(testing::ops_without_sync(), dir / "store", {});
    storage->put_if_absent("c/k", content);
    SECTION("its content") { testing::overwrite(dir / "store/c/k", content.substr(0, 100)); }
    SECTION("its sidecar") { std::filesystem::remove(dir / "store/c/.k.meta"); }
    CHECK(errc_of([&] { (void)storage->get("c/k"); }) == Errc::damaged);
    CHECK(errc_of([&] { storage->put_if_absent("c/k", "other"); }) == Errc::already_exists);
    storage->put_if_absent("c/k", content);
    CHECK(storage->get("c/k") == content);
}

TEST_CASE("a torn object and another writer of its key: nothing that was acknowledged is replaced", "[storage][file]") {
    const TempDir dir;
    FileOps ops = testing::ops_without_sync();
    bool interfered = false;
    int locks = 0;  // of the store: to link the object, and to mend it
    ops.lock = [&](NativeFile file) {
        const auto name = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file)).filename();
        if (name == ".whittle-lock" && ++locks == 2 && !interfered) {
            interfered = true;
            const auto other = file_storage_on(testing::ops_without_sync(), dir / "store", {});
            (void)other->remove("k");
            other->put_if_absent("k", "other");
        }
        return FileSystem::lock(file);
    };
    file_storage_on(testing::ops_without_sync(), dir / "store", {})->put_if_absent("k", "content");
    testing::overwrite(dir / "store/k", "cont");
    const auto storage = file_storage_on(ops, dir / "store", {});
    CHECK(errc_of([&] { storage->put_if_absent("k", "content"); }) == Errc::already_exists);
    CHECK(interfered);
    CHECK(storage->get("k") == "other");
}
