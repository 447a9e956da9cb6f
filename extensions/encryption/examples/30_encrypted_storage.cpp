// Objects that only who has their key can read, in any store; a rotation of keys.
#include <whittle/encryption/encrypted_storage.hpp>
#include <whittle/whittle.hpp>

#include <iostream>
#include <map>

using namespace whittle;

int main() {
    std::map<std::string, std::string, std::less<>> keys;  // from a key store, never from the program's source
    std::string newest = "2026-11";
    keys[newest] = new_encryption_key();

    const auto files = memory_storage();  // or file_storage, sqlite_storage, one of your own
    // [encrypt]
    const auto storage = encrypted_storage(
        files,
        {.current_key =
             [&] {
                 return EncryptionKey{newest, keys.at(newest)};
             },
         .find_key = [&](std::string_view id) -> std::optional<EncryptionKey> {
             const auto found = keys.find(id);
             return found == keys.end() ? std::nullopt : std::optional(EncryptionKey{found->first, found->second});
         }});
    storage->put_if_absent("chat-1/0001-read_mail.txt", "Dear Ada, the code is 4711.");  // or as ChainConfig::storage
    // [/encrypt]
    std::cout << "read back: " << *storage->get("chat-1/0001-read_mail.txt") << '\n';
    std::cout << "in the store: "
              << (files->get("chat-1/0001-read_mail.txt")->find("4711") == std::string::npos ? "not" : "still")
              << " readable, encrypted with " << *encryption_key_id(*files->get("chat-1/0001-read_mail.txt")) << '\n';

    newest = "2026-12";
    keys[newest] = new_encryption_key();
    storage->put_if_absent("chat-1/0002-read_mail.txt", "Dear Bob, ...");
    for (const auto& [id, objects] : storage->keys_in_use()) std::cout << id << ": " << objects << " object\n";

    keys.erase("2026-11");  // the key is gone, and with it what it encrypted
    try {
        (void)storage->get("chat-1/0001-read_mail.txt");
    } catch (const Error& error) {
        std::cout << to_string(error.errc()) << ": " << error.what() << '\n';
    }
}
