// Counts that follow what a provider bills: a trigger is met, another model's habits are another's, and what was learnt
// is saved.
#include "support/catch.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/reduction/reduction.hpp"
#include "whittle/saved/side_table.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace whittle;

namespace {

/// How a provider bills: by bytes, with a system text of its own, and a little otherwise each time.
struct Biller {
    double tokens_per_byte = 0.25;
    std::int64_t overhead = 0;
    double noise = 0.0;
    std::mt19937 random{7};

    [[nodiscard]] std::int64_t bill(std::span<const ChatMessage> messages) {
        double bytes = 0;
        for (const ChatMessage& message : messages) {
            for (const Part& part : message.parts) bytes += static_cast<double>(part.text.size());
        }
        const double swing = noise * (std::uniform_real_distribution<>(-1.0, 1.0)(random));
        return overhead + std::llround(bytes * tokens_per_byte * (1.0 + swing));
    }
};

/// An agent's step: a call with its usage, and its result. `model`: the chain that the request goes through.
void step(Conversation<>& conversation, const Chain<>& model, Biller& biller, int number, std::size_t bytes) {
    (void)model.before_model(conversation);
    const std::string id = "s" + std::to_string(number);
    ChatMessage call = ChatMessage::assistant("").call(id, "read_file", "{\"path\":\"" + id + "\"}");
    std::vector<ChatMessage> billed(conversation.messages().begin(), conversation.messages().end());
    billed.push_back(call);
    conversation.push_back(std::move(call), Usage{.uncached_input = biller.bill(billed)});
    conversation.push_back(ChatMessage::result(id, "read_file", std::string(bytes, 'x')));
}

Chain<> for_model(std::string name, std::int64_t window = 0) {
    ChainConfig config;
    config.profile.name = std::move(name);
    config.profile.context_window = window;
    return Chain{std::move(config)};
}

std::int64_t expected_total(Conversation<>& conversation) {
    return conversation.context(chars_counter(), {}, {}).total;
}

double difference(std::int64_t expected, std::int64_t billed) {
    return std::abs(static_cast<double>(expected - billed)) / static_cast<double>(billed);
}

}  // namespace

TEST_CASE("after five replies a trigger is met within 3 percent of what is billed", "[calibration]") {
    constexpr std::int64_t trigger = 60'000;
    const Chain<> chain = for_model("a");
    for (const double tokens_per_byte : {0.17, 0.25, 0.34, 0.5}) {
        for (const std::int64_t overhead : {0, 3'000, 12'000}) {
            for (const std::size_t bytes : {3'000U, 9'000U, 20'000U}) {
                INFO(tokens_per_byte << " tokens for a byte, " << overhead << " beside, " << bytes << " bytes a step");
                Biller biller{.tokens_per_byte = tokens_per_byte, .overhead = overhead, .noise = 0.01};
                Conversation<> conversation("c");
                conversation.push_back(ChatMessage::user(std::string(4'000, 'u')));
                for (int i = 0; i < 5; ++i) step(conversation, chain, biller, i, bytes);
                for (int i = 5; expected_total(conversation) < trigger; ++i) {
                    Biller exact{.tokens_per_byte = tokens_per_byte, .overhead = overhead};
                    CHECK(difference(expected_total(conversation), exact.bill(conversation.messages())) < 0.03);
                    step(conversation, chain, biller, i, bytes);
                }
            }
        }
    }
}

TEST_CASE("the spread says how far off the counts were", "[calibration]") {
    const Chain<> chain = for_model("a");
    const auto spread_with = [&](double noise) {
        Biller biller{.tokens_per_byte = 0.3, .noise = noise};
        Conversation<> conversation("c");
        conversation.push_back(ChatMessage::user(std::string(40'000, 'u')));
        for (int i = 0; i < 20; ++i) step(conversation, chain, biller, i, 4'000);
        (void)chain.before_model(conversation);
        CHECK(conversation.report().calibration_relative_error == conversation.context(chars_counter(), {}, {}).spread);
        return conversation.report().calibration_relative_error;
    };
    const double calm = spread_with(0.0);
    const double wild = spread_with(0.1);
    CHECK(calm < 0.01);
    CHECK(wild > 0.02);
    CHECK(wild < 0.2);
}

TEST_CASE("what was learnt of a model waits while another one is asked", "[calibration]") {
    const Chain<> first = for_model("dense");
    const Chain<> second = for_model("sparse");
    Biller dense{.tokens_per_byte = 0.5};
    Biller sparse{.tokens_per_byte = 0.2};
    Conversation<> conversation("c");
    conversation.push_back(ChatMessage::user(std::string(8'000, 'u')));
    for (int i = 0; i < 6; ++i) step(conversation, first, dense, i, 4'000);
    const std::int64_t by_first = expected_total(conversation);
    (void)second.before_model(conversation);
    CHECK(expected_total(conversation) == by_first);  // better than nothing, until the second has answered
    for (int i = 6; i < 9; ++i) step(conversation, second, sparse, i, 4'000);
    CHECK(difference(expected_total(conversation), sparse.bill(conversation.messages())) < 0.05);
    CHECK(conversation.context(chars_counter(), {}, {}).calibration < 0.9);
    (void)first.before_model(conversation);
    CHECK(difference(expected_total(conversation), dense.bill(conversation.messages())) < 0.03);
    (void)second.before_model(conversation);
    CHECK(difference(expected_total(conversation), sparse.bill(conversation.messages())) < 0.05);
}

TEST_CASE("a smaller model chosen in the middle of a run compacts first", "[calibration]") {
    ChainConfig config;
    config.storage = memory_storage();
    const auto chain_for = [&](std::string name, std::int64_t window) {
        config.profile.name = std::move(name);
        config.profile.context_window = window;
        config.profile.output_reserve = 2'000;
        return Chain{config,
                     Reduction{{.skip_truncation = true, .max_fraction_for_clear = 0.9, .clear_target_fraction = 0.6}}};
    };
    const Chain<> large = chain_for("large", 100'000);
    const Chain<> small = chain_for("small", 32'000);
    Biller biller{.tokens_per_byte = 0.3, .overhead = 1'000};
    Conversation<> conversation("c");
    conversation.push_back(ChatMessage::user("go"));
    for (int i = 0; i < 20; ++i) step(conversation, large, biller, i, 10'000);
    REQUIRE_FALSE(large.before_model(conversation).changed());
    REQUIRE(biller.bill(conversation.messages()) > 32'000);
    CHECK(small.before_model(conversation).changed());
    CHECK(biller.bill(conversation.messages()) <= 30'000);  // the window less the reply
    CHECK_FALSE(large.before_model(conversation).changed());
}

TEST_CASE("what was learnt is saved with the conversation", "[calibration]") {
    const Chain<> first = for_model("dense");
    const Chain<> second = for_model("sparse");
    Biller dense{.tokens_per_byte = 0.5, .overhead = 2'000, .noise = 0.01};
    Biller sparse{.tokens_per_byte = 0.2};
    Conversation<> conversation("c");
    conversation.push_back(ChatMessage::user(std::string(8'000, 'u')));
    for (int i = 0; i < 6; ++i) step(conversation, first, dense, i, 4'000);
    for (int i = 6; i < 8; ++i) step(conversation, second, sparse, i, 4'000);
    (void)second.before_model(conversation);
    const ContextCount before = conversation.context(chars_counter(), {}, {});

    const std::string saved = to_side_table(conversation);
    const std::vector<ChatMessage> messages(conversation.messages().begin(), conversation.messages().end());
    Conversation<> loaded = from_side_table(saved, messages, nullptr);
    CHECK(to_side_table(loaded) == saved);
    const ContextCount after = loaded.context(chars_counter(), {}, {});
    CHECK(after.total == before.total);
    CHECK(after.calibration == before.calibration);
    CHECK(after.spread == before.spread);
    for (Conversation<>* const c : {&conversation, &loaded}) (void)first.before_model(*c);
    CHECK(expected_total(loaded) == expected_total(conversation));
    step(conversation, first, dense, 8, 4'000);
    Biller same = dense;
    step(loaded, first, same, 8, 4'000);
    CHECK(difference(expected_total(loaded), dense.bill(loaded.messages())) < 0.03);
}

TEST_CASE("a saved calibration with numbers that no reply gives does no harm", "[calibration]") {
    const std::string table = R"({"whittle_side_table":1,"id":"c","counters":{"next_serial":1,"next_entry":1},
        "calibrations":{"model":"m","fits":[{"counter":"chars/4","model":"m","reported":9007199254740993,"counted":0,
        "first_ratio":"nan","first_weight":"inf","grown_reported":-5.0,"grown_counted":1e300,"own_weight":"-inf",
        "spread":"nan"}]},"messages":[],"journal":[],"notes":[]})";
    Conversation<> loaded = from_side_table(table, std::vector<ChatMessage>{}, nullptr);
    const ContextCount count = loaded.context(chars_counter(), {}, {});
    CHECK(count.calibration == 1.0);
    CHECK(count.spread == 0.0);
    CHECK(count.total >= 0);
    CHECK_THROWS_AS(from_side_table(R"({"whittle_side_table":1,"id":"c","counters":{"next_serial":1,"next_entry":1},
        "calibrations":{"model":"m","fits":[{"counter":"chars/4","colour":1}]},"messages":[],"journal":[],
        "notes":[]})",
                                    std::vector<ChatMessage>{}, nullptr),
                    Error);
}
