// A host that owns the list of messages and stamps each.
#include "row.hpp"

#include <whittle/whittle.hpp>

#include <malloc.h>
#include <algorithm>

namespace whittle {

namespace bench {

struct HostMessage {
    ChatMessage message{};
    Stamp stamp{};
};

}  // namespace bench

template <>
struct message_traits<bench::HostMessage> {
    using M = bench::HostMessage;
    using Own = message_traits<ChatMessage>;
    static Role role(const M& m) noexcept { return Own::role(m.message); }
    template <typename Visit>
    static void for_each_part(const M& m, Visit&& visit) {
        Own::for_each_part(m.message, visit);
    }
    static void set_text(M& m, std::size_t part, std::string_view text) {
        Own::set_text(m.message, part, text);
        ++m.stamp.revision;
    }
    static void erase_part(M& m, std::size_t part) {
        Own::erase_part(m.message, part);
        ++m.stamp.revision;
    }
    static M make(Role role, std::string_view text) { return {Own::make(role, text)}; }
    static Stamp stamp(const M& m) noexcept { return m.stamp; }
};

namespace bench {
namespace {

using Host = std::vector<HostMessage>;

void add(Host& host, ChatMessage message) { host.push_back({std::move(message), {host.size() + 1, 0}}); }

void push_round(Host& host) {
    const std::string id = "call_" + std::to_string(host.size());
    add(host, ChatMessage::assistant().call(id, "read", R"({"path":"src/main.cpp"})"));
    add(host, ChatMessage::result(id, "read", std::string(bytes_per_result, 'x')));
}

Host host_of(std::size_t messages) {
    Host host;
    host.reserve(messages + 1);
    add(host, ChatMessage::user("go"));
    while (host.size() < messages) push_round(host);
    return host;
}

Chain<HostMessage> chain_of() {
    ReductionConfig reduction;
    reduction.skip_truncation = true;
    reduction.max_tokens_for_clear = never;
    ChainConfig config;
    config.storage = memory_storage();
    return Chain{std::move(config), Reduction<HostMessage>{reduction}};
}

/// In use, what malloc keeps of its own for each block included.
std::size_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

std::size_t text_bytes_of(const Host& host) {
    std::size_t bytes = 0;
    for (const HostMessage& m : host) {
        for (const Part& part : m.message.parts) bytes += part.text.size();
    }
    return bytes;
}

}  // namespace

/// The check is the number of messages that the conversation lacks: none.
Row sync(std::size_t messages) {
    constexpr int steps = 200;
    const Chain<HostMessage> chain = chain_of();
    Host host = host_of(messages);
    Conversation<HostMessage> conversation("bench");
    conversation.sync(host);
    chain.before_model(conversation);
    double syncing = 0;
    Row row;
    row.seconds = seconds_of([&] {
                      for (int i = 0; i < steps; ++i) {
                          push_round(host);
                          syncing += seconds_of([&] { conversation.sync(host); });
                          chain.before_model(conversation);
                      }
                  }) /
                  steps;
    const long before = allocations_so_far();
    conversation.sync(host);
    row.allocations = allocations_so_far() - before;
    row.check = static_cast<std::int64_t>(host.size()) - static_cast<std::int64_t>(conversation.size());
    row.more = {{"seconds_sync_alone", syncing / steps}};
    return row;
}

/// Its counts by `chars` and its stamps are known. The host's messages are on the heap either way: what a vector of
/// them takes is counted apart. The check is the number of messages.
Row memory(std::size_t messages) {
    const auto counter = chars_counter();
    const std::size_t empty = heap_bytes();
    const Host host = host_of(messages);
    const std::size_t of_host = heap_bytes() - empty;
    Conversation<HostMessage> conversation("bench");
    conversation.sync(host);
    static_cast<void>(conversation.tokens(counter));
    const std::size_t of_conversation = heap_bytes() - empty - of_host;
    const auto n = static_cast<double>(host.size());
    const auto each = [&](std::size_t bytes) { return static_cast<double>(bytes) / n; };
    Row row;
    row.check = static_cast<std::int64_t>(conversation.size());
    row.more = {{"bytes_beside_text", each(of_conversation - text_bytes_of(host))},
                {"bytes_of_the_messages_own_beside_text", each(of_host - text_bytes_of(host))},
                {"bytes_of_the_conversation_beside_the_messages", each(of_conversation - of_host)}};
    return row;
}

}  // namespace bench
}  // namespace whittle
