// Something of every folder of the library, so that a single header without one of them does not link: an agent whose
// session goes through a chain of middlewares and is kept in files. It prints
// the version, as the other consumers do.
#include <whittle/whittle.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>

std::string describe_in_the_other_unit(const whittle::Problem& problem);

namespace {

using namespace whittle;

/// A token for each byte.
std::shared_ptr<const TokenCounter> single_bytes() {
    return counter_from("bytes", [](std::string_view text) { return static_cast<std::int64_t>(text.size()); });
}

/// Reads a page with each call, and ends after `pages`.
std::shared_ptr<Model<ChatMessage>> reader(int pages) {
    auto model = std::make_shared<ScriptedModel<ChatMessage>>([pages, page = 0](const auto&) mutable {
        if (page++ == pages) return Reply<ChatMessage>{ChatMessage::assistant("All is read.")};
        return Reply<ChatMessage>{ChatMessage::assistant().call("c" + std::to_string(page), "read_page")};
    });
    return with_retry<ChatMessage>(std::move(model));
}

std::shared_ptr<Model<ChatMessage>> summarizer() {
    return std::make_shared<ScriptedModel<ChatMessage>>([](const auto&) {
        return Reply<ChatMessage>{ChatMessage::assistant("<summary>Pages were read with read_page.</summary>")};
    });
}

Chain<> all_middlewares(std::shared_ptr<Storage> storage, std::shared_ptr<const TokenCounter> counter) {
    return Chain<>{ChainConfig{.token_counter = std::move(counter), .storage = std::move(storage)},
                   Reduction<>{{.max_tokens_for_clear = 20'000, .clear_target_tokens = 12'000}}, TokenSaving<>{},
                   Compaction<>{summarizer(), {.threshold_tokens = 60'000}},
                   Summarization<>{summarizer(), {.trigger = {.context_tokens = 80'000}}}};
}

bool reads_a_book(const std::shared_ptr<Storage>& storage) {
    const auto page = [](std::string_view) { return std::string(4'000, '.'); };
    const Chain<> chain = all_middlewares(storage, single_bytes());
    AgentLoop<> loop{reader(20), {text_tool("read_page", "Reads a page.", "{}", page)}, chain};
    Conversation<> conversation("book");
    if (loop.run(conversation, "Read the book.").text != "All is read.") return false;
    return storage->get("book/clear/c1") == std::string(4'000, '.') &&
           validate(conversation.outline(), anthropic_messages()).empty();
}

}  // namespace

int main() {
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-consumer-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    const bool is_read = reads_a_book(file_storage(folder + "/store"));
    std::filesystem::remove_all(folder);

    const Problem problem{.field = "field", .value = "value", .allowed = "allowed"};
    std::cout << WHITTLE_VERSION_STRING << '\n';
    return is_read && to_string(problem) == describe_in_the_other_unit(problem) ? 0 : 1;
}
