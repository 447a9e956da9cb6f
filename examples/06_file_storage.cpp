// Objects as plain files: written once, streamed, read by range, checked, removed with their conversation.
#include <whittle/whittle.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

using namespace whittle;

int main() {
    std::string parent = (std::filesystem::temp_directory_path() / "whittle-example-XXXXXX").string();
    if (::mkdtemp(parent.data()) == nullptr) return 1;
    // [open]
    const auto storage = file_storage(parent + "/store", {.durability = Durability::full});
    storage->put_if_absent("chat-1/0001-read_log.txt", "line 1\nline 2\n");
    // [/open]
    storage->put_if_absent("chat-1/0001-read_log.txt", "line 1\nline 2\n");  // the same again: nothing to do
    const auto refused = [&](std::string_view key, std::string_view content) {
        try {
            storage->put_if_absent(key, content);
        } catch (const Error& error) {
            std::cout << to_string(error.errc()) << ": " << error.what() << '\n';
        }
    };
    refused("chat-1/0001-read_log.txt", "other");
    refused("../../etc/x", "hostile");

    // [stream]
    const auto writer = storage->open_writer();
    for (int i = 0; i < 1'000; ++i) writer->write("a line of a long result\n");
    writer->commit("chat-1/0002-run_tests.txt");  // until here nobody sees it
    // [/stream]
    std::cout << storage->stat("chat-1/0002-run_tests.txt")->bytes << " bytes, of which "
              << *storage->get("chat-1/0002-run_tests.txt", 2, 4) << '\n';

    std::ofstream(storage->locate("chat-1/0002-run_tests.txt"), std::ios::app) << "changed behind its back";
    try {
        (void)storage->get("chat-1/0002-run_tests.txt");
    } catch (const Error& error) {
        std::cout << to_string(error.errc()) << ": " << error.what() << '\n';
    }

    // [remove]
    storage->list("chat-1/", [&](const ObjectInfo& object) { return storage->remove(object.key); });
    // [/remove]
    std::cout << storage->get("chat-1/0001-read_log.txt").has_value() << '\n';
    std::filesystem::remove_all(parent);
}
