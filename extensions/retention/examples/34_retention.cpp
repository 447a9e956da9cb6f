// What of a store may go: what no conversation refers to, and what belongs to one that is given up.
#include <whittle/durable/durable.hpp>
#include <whittle/retention/retention.hpp>
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

int main() {
    const auto clock = std::make_shared<ManualClock>(1'800'000'000'000);
    const auto storage = memory_storage({.clock = clock});
    for (const char* id : {"mails", "bills"}) {
        storage->put_if_absent(std::string(id) + "/clear/c1", "an old result");
        storage->put_if_absent(std::string(id) + "/clear/c2", "one that was undone");
        auto durable = DurableConversation<>::open(storage, id, {.clock = clock});
        durable->push_back(ChatMessage::user("Full text: " + std::string(id) + "/clear/c1"));
        durable.save();
        durable.release();
    }
    clock->advance(std::chrono::hours(48));

    // [plan]
    const RetentionOptions options{.purge_conversations = {"bills"},
                                   .max_bytes = 1 << 30,
                                   .clock = clock,
                                   .visit = [](const RetentionObject& object) {
                                       std::cout << to_string(object.reason) << ' ' << object.key << ' '
                                                 << object.conversation << '\n';
                                   }};
    const RetentionPlan plan = plan_retention(*storage, options);
    std::cout << plan.removal_sum().objects << " would go\n";
    std::cout << execute_retention(*storage, plan, options).removed.objects << " are gone\n";
    // [/plan]
    std::cout << "mails: " << read_durable(storage, "mails").size() << " message\n";
}
