#include "vocabularies.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"

#include <limits>
#include <thread>

using namespace whittle;
using namespace whittle::test;

namespace {

std::string from_hex(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

}  // namespace

TEST_CASE("the golden strings have the ids that tiktoken gives them", "[tokens]") {
    std::ifstream golden(WHITTLE_DATA_DIR "/tokenizers/golden.jsonl");
    if (!golden) SKIP_WITH_MESSAGE("no golden strings");
    for (std::string line; std::getline(golden, line);) {
        const auto entry = nlohmann::json::parse(line);
        const std::string text = entry["text"];
        for (const char* name : {"o200k_base", "cl100k_base"}) {
            CAPTURE(name, text);
            CHECK(vocabulary(name)->encode(text) == entry[name].get<std::vector<TokenId>>());
        }
    }
}

TEST_CASE("random texts have the ids that tiktoken gives them, ill-formed ones included", "[tokens]") {
    std::ifstream recorded(WHITTLE_SOURCE_DIR "/extensions/tiktoken/tests/tiktoken_random.jsonl");
    REQUIRE(recorded);
    for (std::string line; std::getline(recorded, line);) {
        const auto entry = nlohmann::json::parse(line);
        const std::string text = from_hex(entry["hex"]);
        for (const std::string& name : encoding_names) {
            const auto tokens = vocabulary(name);
            if (tokens == nullptr) SKIP_WITH_MESSAGE("no vocabularies");
            CAPTURE(name, text);
            CHECK(tokens->encode(text) == entry[name].get<std::vector<TokenId>>());
            CHECK(tokens->count(text) == static_cast<std::int64_t>(entry[name].size()));
        }
    }
}

TEST_CASE("what is encoded is decoded to the same text, in all encodings", "[tokens]") {
    std::mt19937 random(7);
    for (const std::string& name : encoding_names) {
        const auto tokens = vocabulary(name);
        if (tokens == nullptr) SKIP_WITH_MESSAGE("no vocabularies");
        for (int i = 0; i < 300; ++i) {
            const std::string text = random_text(random, 1 + below(random, 80));
            CAPTURE(name, text);
            CHECK(tokens->decode(tokens->encode(text)) == text);
        }
    }
}

TEST_CASE("ill-formed sequences are encoded as U+FFFD", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    std::mt19937 random(11);
    for (int i = 0; i < 300; ++i) {
        const std::string bytes = random_text(random, 5) + random_bytes(random, 1 + below(random, 8)) + "end";
        CAPTURE(bytes);
        CHECK(tokens->encode(bytes) == tokens->encode(to_valid_utf8(bytes)));
        CHECK(tokens->decode(tokens->encode(bytes)) == to_valid_utf8(bytes));
        CHECK(tokens->count(bytes) <= tokens_upper_bound(bytes));
    }
    CHECK(tokens_upper_bound("a\xFFz") == 5);
}

TEST_CASE("a count up to a limit is the count, or nothing where it is larger", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    const std::string text = "The quick brown fox jumps over the lazy dog, unverständlicherweise.";
    const std::int64_t count = tokens->count(text);
    CHECK(tokens->count_up_to(text, count) == count);
    CHECK(tokens->count_up_to(text, std::numeric_limits<std::int64_t>::max()) == count);
    CHECK(tokens->count_up_to(text, count - 1) == std::nullopt);
    CHECK(tokens->count_up_to(text, -1) == std::nullopt);
    CHECK(tokens->count_up_to("", 0) == 0);
    CHECK(tokens->count_up_to(std::string(100'000, 'a'), 700) == std::nullopt);
}

TEST_CASE("long pieces without a break are encoded in one pass", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    const auto repeated = [](std::string_view unit, std::size_t bytes) {
        std::string text;
        while (text.size() < bytes) text += unit;
        return text;
    };
    // From tiktoken 0.14, where the time grows with the square of the size for some of these.
    CHECK(tokens->count(repeated("a", 100'000)) == 12'500);
    CHECK(tokens->count(repeated("_", 100'000)) == 1'563);
    CHECK(tokens->count(repeated(" ", 100'000)) == 782);
    CHECK(tokens->count(repeated("中", 99'999)) == 33'333);
    CHECK(tokens->count(repeated("!?", 100'000)) == 25'002);
}

TEST_CASE("a vocabulary may be used by many threads at once", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "o200k_base");
    std::mt19937 random(3);
    std::vector<std::string> texts;
    std::vector<std::int64_t> counts;
    for (int i = 0; i < 50; ++i) texts.push_back(random_text(random, 60));
    for (const std::string& text : texts) counts.push_back(static_cast<std::int64_t>(tokens->encode(text).size()));
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < texts.size() * 4; ++i) {
                const std::size_t n = (i * 7 + t) % texts.size();
                wrong[t] += tokens->count(texts[n]) != counts[n];
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("an exact counter is named after its encoding and adds up the parts of a message", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "cl100k_base");
    const auto counter = exact_counter(tokens);
    CHECK(counter->id() == "cl100k_base");
    CHECK(counter->count("hello") == 1);
    CHECK_THROWS_AS(exact_counter(nullptr), Error);
}

TEST_CASE("an id that no token has is refused", "[tokens]") {
    REQUIRE_VOCABULARY(tokens, "p50k_base");
    const auto refused = [&](TokenId id) {
        try {
            static_cast<void>(tokens->decode(std::vector<TokenId>{0, id}));
        } catch (const Error& error) {
            return error.errc() == Errc::invalid_argument;
        }
        return false;
    };
    CHECK(refused(50256));  // the gap for a special token
    CHECK(refused(50281));
    CHECK(refused(0xFFFFFFFF));
    CHECK(tokens->bytes_of(50280) == std::string(25, ' '));
}
