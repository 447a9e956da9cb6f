// Objects in one file of SQLite: shared by processes, limited, checked, backed up while it is used.
#include <whittle/sqlite/sqlite_storage.hpp>
#include <whittle/whittle.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace whittle;

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-example-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    // [open]
    const auto storage =
        sqlite_storage(folder + "/objects.db", {.durability = Durability::full, .max_file_bytes = 1 << 30});
    storage->put_if_absent("chat-1/0001-read_log.txt", "line 1\nline 2\n");
    // [/open]
    const auto writer = storage->open_writer();
    for (int i = 0; i < 200'000; ++i) writer->write("a line of a long result\n");
    writer->commit("chat-1/0002-run_tests.txt");  // until here nobody sees it

    const auto other = sqlite_storage(folder + "/objects.db");  // as another process would
    std::cout << other->stat("chat-1/0002-run_tests.txt")->bytes << " bytes, of which "
              << *other->get("chat-1/0002-run_tests.txt", 2'400'002, 4) << '\n';
    try {
        other->put_if_absent("chat-1/0001-read_log.txt", "other");
    } catch (const Error& error) {
        std::cout << to_string(error.errc()) << ": " << error.what() << '\n';
    }

    other->backup(folder + "/copy.db");
    std::cout << "the copy has " << sqlite_storage(folder + "/copy.db")->usage().objects << " objects, "
              << sqlite_storage(folder + "/copy.db")->verify().size() << " problems\n";

    storage->list("chat-1/", [&](const ObjectInfo& object) { return storage->remove(object.key); });
    std::cout << "then " << other->usage().objects << " are left here\n";
    std::filesystem::remove_all(folder);
}
