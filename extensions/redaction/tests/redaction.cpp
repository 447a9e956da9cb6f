// What the rules find, and what they leave alone.
#include "whittle/redaction/redaction.hpp"

#include "storage/file_tools.hpp"
#include "support/catch.hpp"
#include "support/storage_tools.hpp"
#include "whittle/base/error.hpp"

#include <nlohmann/json.hpp>

#include <random>
#include <string>
#include <vector>

using namespace whittle;
using nlohmann::json;
using testing::errc_of;
using testing::error_of;

namespace {

using Places = std::map<std::string, std::int64_t>;

const std::string service_key = "sk-proj-abcdefghijklmnop0123456789";
const std::string random_word = "Zx81Qm22Lp93Ks04Jd15Hf26Gg37Aa48";

std::string masked_text(std::string_view text) { return Redactor().text(text).text; }

}  // namespace

TEST_CASE("each rule masks what it says, and is counted under its name", "[redaction]") {
    const Redactor redactor;
    const Redacted found =
        redactor.text("use " + service_key + " and " + random_word + "\npassword = \"tiger-1234\"\n");
    CHECK(found.text == "use *** and ***\npassword = \"***\"\n");
    CHECK(found.places == Places{{"key", 1}, {"named", 1}, {"random", 1}});
    CHECK(found.count() == 3);
    CHECK(redactor.text("nothing to hide").places.empty());
    CHECK(redactor.text("").text.empty());
    CHECK(Redactor({.shown_prefix_bytes = 4}).text(service_key).text == "sk-p***");
}

TEST_CASE("what is assigned to a name of a secret is masked, what counts or calls is not", "[redaction]") {
    for (const char* text : {"SECRET_KEY_BASE=swordfish-1", "db_password: swordfish-1", "'token' = 'swordfish-1'",
                             "Authorization: Bearer swordfish-1", "MY_TOKEN_2=swordfish-1"}) {
        CAPTURE(text);
        CHECK(Redactor().text(text).places == Places{{"named", 1}});
    }
    for (const char* text :
         {"InputTokens: incoming.InputTokens", "max_tokens=config.max_tokens", "tokenCount: targetCount",
          "token = next_token()", "password: 12345678", "the password is swordfish-1", "secret: short"}) {
        CAPTURE(text);
        CHECK(masked_text(text) == text);
    }
}

TEST_CASE("a private key in PEM is masked line by line between its ends, as one place", "[redaction]") {
    const std::string text =
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIBOgIBAAJBAK\nabcd/+==\n"
        "-----END RSA PRIVATE KEY-----\nafter\n-----BEGIN PRIVATE KEY-----\nand prose, not a key\n";
    const Redacted found = Redactor().text(text);
    CHECK(found.text ==
          "-----BEGIN RSA PRIVATE KEY-----\n***\n\n***\n***\n-----END RSA PRIVATE KEY-----\nafter\n"
          "-----BEGIN PRIVATE KEY-----\nand prose, not a key\n");
    CHECK(found.places == Places{{"private_key", 1}});
    const json inside{{"pem", text}};
    CHECK(json::parse(Redactor().text_or_json(inside.dump()).text)["pem"] == found.text);
}

TEST_CASE("a host adds names, beginnings, words and a rule of its own, and turns rules off", "[redaction]") {
    const Redactor redactor({.disabled = {"random"},
                             .api_key_prefixes = {"acme_"},
                             .secret_field_names = {"PIN_code"},
                             .secret_words = {"Project Tiger"},
                             .custom_rule = [](std::string_view line) -> std::optional<std::string> {
                                 if (line.find("4711") == std::string_view::npos) return std::nullopt;
                                 return std::string("[gone]");
                             }});
    const Redacted found =
        redactor.text("acme_0123456789abc\nmy_pin_code: swordfish\nof Project Tiger.\nthe 4711\n" + random_word + "\n");
    CHECK(found.text == "***\nmy_pin_code: ***\nof ***.\n[gone]\n" + random_word + "\n");
    CHECK(found.places == Places{{"host", 1}, {"key", 1}, {"named", 1}, {"word", 1}});
}

TEST_CASE("bad rules are refused, all at once", "[redaction]") {
    const std::string problem = error_of([] {
        (void)Redactor(
            {.disabled = {"radom"}, .api_key_prefixes = {""}, .secret_field_names = {"a b"}, .secret_words = {"abc"}});
    });
    for (const char* field : {"disabled", "api_key_prefixes", "secret_field_names", "secret_words"})
        CHECK(problem.find(field) != std::string::npos);
    CHECK(problem.find("radom") != std::string::npos);
    CHECK(errc_of([] { (void)Redactor({.secret_words = {"two\nlines"}}); }) == Errc::invalid_config);
}

TEST_CASE("JSON stays JSON: strings are masked one by one, values under a name as a whole, JSON in strings too",
          "[redaction]") {
    const json inner{{"password", "correct horse battery"}, {"n", 12345678}};
    const json given{{"a", {1, nullptr, true, -2.5}},     {"secret", "with spaces and \"quotes\""},
                     {"text", "x " + service_key + " y"}, {"arguments", inner.dump()},
                     {random_word, "as a key"},           {"escaped", "tab\t" + service_key}};
    for (const int indent : {-1, 2}) {
        const Redacted found = Redactor().text_or_json(given.dump(indent));
        const json read = json::parse(found.text);
        CHECK(read["a"] == given["a"]);
        CHECK(read["secret"] == "***");
        CHECK(read["text"] == "x *** y");
        CHECK(json::parse(read["arguments"].get<std::string>()) == json{{"password", "***"}, {"n", 12345678}});
        CHECK(read["***"] == "as a key");
        CHECK(read["escaped"] == "tab\t***");
        CHECK(found.count() == 5);
    }
    CHECK(Redactor().text_or_json(R"({"k":"sk-\u0061bcdefghijklmnop"})").text == R"({"k":"***"})");
}

TEST_CASE("lines of JSON are masked as JSON, the lines around them as text", "[redaction]") {
    CHECK(Redactor().text_or_json("log\n{\"password\":\"correct horse\"}\n[1]\n").text ==
          "log\n{\"password\":\"***\"}\n[1]\n");
}

TEST_CASE("images, long base64, signatures and ids of calls keep their bytes", "[redaction]") {
    const std::string data(600, 'Q');
    std::string image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk";
    const std::string signature = "EqQBCgIYAhIM1gbcDa9GJwZA2b3h";
    const json given{{"source", {{"data", image}, {"media_type", "image/png"}}},
                     {"url", "data:image/png;base64," + image},
                     {"long", "Ab1" + data},
                     {"signature", signature + random_word},
                     {"id", random_word}};
    const std::string stored = R"([{"type":"media","mime":"image/x-odd","bytes":{"base64":")" + random_word + R"("}}])";
    CHECK(Redactor().text_or_json(stored).text == stored);
    const Redacted found = Redactor().text_or_json(given.dump());
    CHECK(found.text == given.dump());
    CHECK(Redactor().text_or_json(json{{"id", service_key}}.dump()).text == R"({"id":"***"})");  // of a known service
    CHECK(masked_text("token: eyJhbGciOiJI.eyJ" + data + ".sig") == "token: ***");
}

TEST_CASE("a text may come in any pieces, and masking again changes nothing", "[redaction]") {
    std::mt19937 random(3);
    const Redactor redactor;
    const std::vector<std::string> bits{service_key,
                                        random_word,
                                        "password=",
                                        "\"token\": \"",
                                        "tiger-1234",
                                        "\n",
                                        " ",
                                        ",",
                                        "\"",
                                        "{",
                                        "}",
                                        "\\n",
                                        "Bearer ",
                                        "https://a/b?",
                                        std::string(70, 'w'),
                                        "\xC3\xA9",
                                        "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"};
    for (int round = 0; round < 300; ++round) {
        std::string text;
        for (int i = 0; i < 40; ++i) text.append(bits[random() % bits.size()]).append(random() % 2 == 0 ? " " : "/");
        const std::string once = redactor.text(text).text;
        CAPTURE(text);
        CHECK(redactor.text(once).text == once);
        CHECK(redactor.text_or_json(redactor.text_or_json(text).text).places.empty());
        CHECK(once.find("abcdefghijklmnop") == std::string::npos);
    }
}

TEST_CASE("a line longer than 64 KiB is cut where no value goes on, so that nothing in it is missed", "[redaction]") {
    std::string line;
    std::size_t secrets = 0;
    while (line.size() < 400'000) {
        line += "\"name\": \"ann\", \"password\" : \"tiger-" + std::to_string(1'000 + secrets++) + "\", ";
        line += std::string(1 + secrets * 37 % 5'000, 'x') + ' ' + service_key + ' ';
    }
    const Redacted found = Redactor().text(line);
    CHECK(found.places ==
          Places{{"key", static_cast<std::int64_t>(secrets)}, {"named", static_cast<std::int64_t>(secrets)}});
    CHECK(found.text.find("tiger") == std::string::npos);
}
