// Does saving cost what is new? For histories of 100 to 10,000 messages, saves of one round each (a call and its result
// of 400 bytes): bytes written, and the median time, beside saving everything (the side table and all messages). Then
// all that a conversation writes while it grows from nothing, snapshots included, and what opening it takes.
// bench_durable [none|data|full]: also in files, with that durability.
#include "history.hpp"

#include <whittle/durable/durable.hpp>
#include <whittle/saved/side_table.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

using Microseconds = std::chrono::duration<double, std::micro>;

double time_of(auto&& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return Microseconds(std::chrono::steady_clock::now() - start).count();
}

/// Counts what is written.
class CountingStorage final : public Storage {
public:
    explicit CountingStorage(std::shared_ptr<Storage> inner) : inner_(std::move(inner)) {}
    void put_if_absent(std::string_view key, std::string_view content) override {
        inner_->put_if_absent(key, content);
        bytes += static_cast<std::int64_t>(content.size());
    }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        return inner_->get(key, offset, max_bytes);
    }
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        inner_->list(prefix, visit);
    }
    bool remove(std::string_view key) override { return inner_->remove(key); }

    std::int64_t bytes = 0;

private:
    std::shared_ptr<Storage> inner_;
};

std::int64_t save_everything(const Conversation<>& conversation) {
    std::string all = to_side_table(conversation);
    for (const ChatMessage& m : conversation.messages()) all += message_traits<ChatMessage>::to_bytes(m) + "\n";
    return static_cast<std::int64_t>(all.size());
}

void measure(std::size_t messages, const std::shared_ptr<Storage>& inner) {
    const auto storage = std::make_shared<CountingStorage>(inner);
    const DurableOptions options{.writer = "bench"};
    auto durable = DurableConversation<>::open(storage, "bench", options);
    durable->push_back(ChatMessage::user("go"));
    const double grown = time_of([&] {
        while (durable->size() < messages) {
            bench::push_round(*durable, std::string(400, 'x'));
            durable.save();
        }
    });
    const std::int64_t written = storage->bytes;
    std::vector<double> times;
    std::vector<std::int64_t> bytes;
    for (int i = 0; i < 101; ++i) {
        bench::push_round(*durable, std::string(400, 'x'));
        const std::int64_t before = storage->bytes;
        times.push_back(time_of([&] { durable.save(); }));
        bytes.push_back(storage->bytes - before);
    }
    std::ranges::nth_element(times, times.begin() + 50);
    std::ranges::nth_element(bytes, bytes.begin() + 50);
    std::int64_t everything = 0;
    const double whole = time_of([&] { everything = save_everything(*durable); });
    const double opened = time_of([&] { (void)DurableConversation<>::open(storage, "bench", options); });
    std::printf("%8zu  %7lld B %9.1f us  %10lld B %11.1f us  %12lld B %9.1f us/save  %9.0f us\n", messages,
                static_cast<long long>(bytes[50]), times[50], static_cast<long long>(everything), whole,
                static_cast<long long>(written), 2 * grown / static_cast<double>(messages), opened);
}

void measure_all(const char* title, const auto& open_store) {
    std::printf(
        "%s\nmessages      one save            everything, not stored        grown from nothing              opened\n",
        title);
    for (const std::size_t messages : {100, 1'000, 10'000}) measure(messages, open_store(messages));
}

}  // namespace

int main(int argc, char** argv) {
    measure_all("in memory", [](std::size_t) { return memory_storage(); });
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (wanted.empty()) return 0;
    const Durability durability = wanted == "full"   ? Durability::full
                                  : wanted == "data" ? Durability::data
                                                     : Durability::none;
    std::string folder = (std::filesystem::temp_directory_path() / "whittle-bench-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) return 1;
    measure_all("in files", [&](std::size_t messages) {
        return file_storage(folder + "/" + std::to_string(messages), {.durability = durability});
    });
    std::filesystem::remove_all(folder);
}
