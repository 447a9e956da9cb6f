// Secrets are masked before a store has them.
#include <whittle/redaction/redacted_storage.hpp>
#include <whittle/whittle.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace whittle;

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-example-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    {
        // [open]
        const auto files = file_storage(folder + "/store");
        const auto storage =
            redacted_storage(files, {.secret_field_names = {"door_code"}, .secret_words = {"Project Tiger"}});
        storage->put_if_absent("chat/1", "door_code: 4711-2026\nkey: sk-proj-abcdefghijklmnop\nof Project Tiger\n");
        std::cout << *storage->get("chat/1") << storage->masked_places("chat/1") << " places masked\n";
        // [/open]
        std::cout << "rules: " << redaction_note(*files->get("chat/1"))->rules << '\n';

        const Chain chain{ChainConfig{.storage = storage},
                          Reduction{{.max_tokens_for_clear = 2'000, .clear_target_tokens = 500}}};
        Conversation history("mails");
        for (const char* id : {"c1", "c2", "c3"}) {
            history.push_back(ChatMessage::assistant().call(id, "read_mail"));
            history.push_back(
                ChatMessage::result(id, "read_mail", "password: swordfish-1, " + std::string(4'000, '.')));
        }
        chain.before_model(history);
        std::cout << "stored: " << storage->get("mails/clear/c1")->substr(0, 13) << '\n';
        while (history.undo()) {
        }
        std::cout << "in memory: " << text_of(history.messages()[1], 0).substr(0, 21) << '\n';
    }
    std::filesystem::remove_all(folder);
}
