#include "support/catch.hpp"
#include "whittle/tokens/counter.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>

using namespace whittle;

namespace {

struct Sample {
    const char* kind;
    std::string_view text;
    std::int64_t tokens;  // o200k_base, exact
};

const Sample samples[] = {
    {"english", "The quick brown fox jumps over the lazy dog. It was the best of times, it was the worst of times.",
     24},
    {"code", "for (std::size_t i = 0; i < values.size(); ++i) {\n    total += values[i].weight * scale;\n}\n", 31},
    {"json", "{\"id\":12345,\"name\":\"example\",\"tags\":[\"a\",\"b\"],\"nested\":{\"ok\":true,\"price\":19.99}}", 29},
    {"hex", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", 43},
    {"base64",
     "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/"
     "w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
     66},
    {"chinese", "今天的天气很好,我们一起去公园散步吧。代理每一步都会重新发送全部历史消息。", 24},
    {"japanese", "エージェントは毎回すべての履歴を送り直します。とても良い天気ですね。", 26},
    {"korean", "에이전트는 매 단계마다 전체 기록을 다시 보냅니다. 오늘 날씨가 좋네요.", 23},
    {"russian", "Агент на каждом шаге заново отправляет всю историю сообщений. Сегодня хорошая погода.", 21},
    {"arabic", "يعيد الوكيل إرسال سجل الرسائل بالكامل في كل خطوة. الطقس جميل اليوم.", 18},
    {"german", "Der Agent sendet bei jedem Schritt den gesamten Nachrichtenverlauf erneut. Größe überprüfen.", 17},
    {"thai", "ตัวแทนส่งประวัติข้อความทั้งหมดอีกครั้งในทุกขั้นตอน วันนี้อากาศดี", 20},
    {"hindi", "एजेंट हर चरण में पूरा संदेश इतिहास फिर से भेजता है। आज मौसम अच्छा है।", 20},
    {"greek", "Ο πράκτορας στέλνει ξανά όλο το ιστορικό μηνυμάτων σε κάθε βήμα.", 26},
    {"emoji", "🎉🚀 done ✅ 👍🏽 👨‍👩‍👧 🇩🇪", 21},
    {"ansi", "\x1b[32m[INFO]\x1b[0m 2026-01-31T12:00:01.123Z build finished in 3.21s \x1b[1m(ok)\x1b[0m\n", 47},
};

std::string repeated(std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
}

}  // namespace

TEST_CASE("the estimate is within a third of the exact count, whatever the script", "[tokens]") {
    const auto counter = estimate_counter();
    for (const Sample& sample : samples) {
        const std::int64_t tokens = counter->count(sample.text);
        CAPTURE(sample.kind, tokens, sample.tokens);
        CHECK(std::abs(tokens - sample.tokens) <= std::max<std::int64_t>(sample.tokens / 3, 2));
    }
}

TEST_CASE("over the golden strings the estimate is within a tenth of the exact count", "[tokens]") {
    std::ifstream golden(WHITTLE_DATA_DIR "/tokenizers/golden.jsonl");
    if (!golden) SKIP_WITH_MESSAGE("no golden strings on this machine");
    const auto counter = estimate_counter();
    std::int64_t estimated = 0;
    std::int64_t exact = 0;
    for (std::string line; std::getline(golden, line);) {
        const auto entry = nlohmann::json::parse(line);
        estimated += counter->count(entry["text"].get<std::string>());
        exact += static_cast<std::int64_t>(entry["o200k_base"].size());
    }
    CAPTURE(estimated, exact);
    REQUIRE(exact > 1'000);
    CHECK(std::abs(estimated - exact) * 10 <= exact);
}

TEST_CASE("an empty text costs nothing, any other at least one token", "[tokens]") {
    const auto counter = estimate_counter();
    CHECK(counter->count("") == 0);
    for (const std::string_view text : {" ", "\n", "a", "1", ".", "\xff", "\xe4\xb8\xad", "\t", "\x1b"}) {
        CAPTURE(text);
        CHECK(counter->count(text) == 1);
    }
}

TEST_CASE("text added never lowers the estimate by more than two tokens", "[tokens]") {
    const auto counter = estimate_counter();
    for (const Sample& first : samples) {
        for (const Sample& second : samples) {
            const std::string both = std::string(first.text) + std::string(second.text);
            CAPTURE(first.kind, second.kind);
            CHECK(counter->count(both) >= counter->count(first.text) - 2);
            CHECK(std::abs(counter->count(both) - counter->count(first.text) - counter->count(second.text)) <= 6);
        }
    }
}

TEST_CASE("a prefix of a text never costs two tokens more than the text", "[tokens]") {
    const auto counter = estimate_counter();
    for (const Sample& sample : samples) {
        std::int64_t highest = 0;
        for (std::size_t end = 0; end <= sample.text.size(); ++end) {
            const std::int64_t tokens = counter->count(sample.text.substr(0, end));
            CAPTURE(sample.kind, end, tokens, highest);
            CHECK(tokens >= highest - 4);  // a cut character is up to three bytes of one token each
            highest = std::max(highest, tokens);
        }
    }
}

TEST_CASE("bytes that are not UTF-8 count one token each", "[tokens]") {
    const auto counter = estimate_counter();
    CHECK(counter->count("\xff\xfe\x80") == 3);
    CHECK(counter->count("\xe4\xb8") == 2);
    CHECK(counter->count(std::string(1'000, '\x80')) == 1'000);
    CHECK(counter->count("\xed\xa0\x80") == 3);
    CHECK(counter->count("\xf4\x90\x80\x80") == 4);
    CHECK(counter->count("\xc0\xaf") == 2);
}

TEST_CASE("the estimate grows with the length of repeated text", "[tokens]") {
    const auto counter = estimate_counter();
    for (const Sample& sample : samples) {
        const std::int64_t ten = counter->count(repeated(sample.text, 10));
        const std::int64_t thousand = counter->count(repeated(sample.text, 1'000));
        CAPTURE(sample.kind, ten, thousand);
        CHECK(std::abs(thousand - 100 * ten) <= 20 * ten);
    }
}

TEST_CASE("a megabyte without a break is estimated in one pass", "[tokens]") {
    const auto counter = estimate_counter();
    for (const std::string_view unit :
         {"a", "A", "1", " ", "\n", "-", "\xe4\xb8\xad", "\xff", "aB1", "\xf0\x9f\x8e\x89", "'s", " \n"}) {
        const std::string text = repeated(unit, 1'000'000);
        CAPTURE(unit);
        CHECK(counter->count(text) >= 1);
        CHECK(counter->count(text) <= static_cast<std::int64_t>(text.size() + text.size() / 20));
    }
}

TEST_CASE("the estimate has a name of its own", "[tokens]") {
    CHECK(estimate_counter()->id() == "estimate/2");
    CHECK(estimate_counter()->media_tokens({}) == 2'000);
}
