// What may be registered beside middlewares, and what is refused.
#include "whittle/config/config_json.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace whittle;
using nlohmann::ordered_json;

namespace {

struct Bounds {
    int low = 1;
    int high = 2;
    std::string model{};
    std::shared_ptr<Storage> storage{};
};

MiddlewareType<Bounds> ordered_type() {
    return {.type = "ordered",
            .fields = {{"low", &Bounds::low, "the lower"}, {"high", &Bounds::high, "the higher"}},
            .after_fields_read = [](Bounds& limits, ConfigEntry& entry) {
                if (limits.low > limits.high) entry.unexpected("high", "more than `low`");
            }};
}

template <typename Register>
std::string refusal(const Register& add) {
    ConfigTypes types;
    try {
        add(types);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

std::string read_error(std::string_view json, const ConfigTypes& types = {}) {
    try {
        (void)read_chain_settings(json, {.name = "c", .types = types});
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

enum class Mode { quick, slow };

struct Modal {
    Mode mode = Mode::quick;
    bool redaction = false;
    bool root = false;
};

StoreWrapper<Modal> around(std::string type, ConfigFields<Modal> fields) {
    return {.type = std::move(type),
            .fields = std::move(fields),
            .wrap = [](std::shared_ptr<Storage> inner, const Modal&, const ConfigContext&) { return inner; }};
}

}  // namespace

TEST_CASE("what several keys say together is told at the object where the key is not there", "[config_json]") {
    ConfigTypes types;
    types.register_middleware<ChatMessage>(
        ordered_type(), [](const Bounds&, const auto&) { return std::shared_ptr<Middleware<ChatMessage>>(); });
    CHECK(read_error(R"({"middlewares": [{"type": "ordered", "low": 5}]})", types) ==
          "read configuration: 1 problem\nc:1:18: middlewares[0].high: found its default, expected more than `low`");
    CHECK(read_error(R"({"middlewares": [{"type": "ordered", "low": 5, "high": 4}]})", types) ==
          "read configuration: 1 problem\nc:1:48: middlewares[0].high: found 4, expected more than `low`");
    CHECK(read_error(R"({"middlewares": [{"type": "ordered", "low": 5, "high": "x"}]})", types) ==
          "read configuration: 1 problem\nc:1:48: middlewares[0].high: found \"x\", expected an integer from 0 to "
          "2147483647");
}

TEST_CASE("more words than values are refused, a key without a member, and a type without a function that makes it",
          "[config_json]") {
    CHECK(refusal([](ConfigTypes& types) {
              types.register_store_wrapper(around("a", {{.name = "mode",
                                                         .member = word_member(&Modal::mode, {Mode::quick, Mode::slow}),
                                                         .meaning = "how",
                                                         .words = {"quick", "slow", "never"}}}));
          }) == "register store around others \"a\": key \"mode\": 3 words for 2 values");
    CHECK(refusal([](ConfigTypes& types) {
              types.register_store_wrapper(around("a", {{"root", static_cast<std::string Modal::*>(nullptr), "x"}}));
          }) == "register key \"root\": it names no member");
    CHECK(refusal([](ConfigTypes& types) { types.register_store(StoreType<Modal>{.type = "a"}); }) ==
          "register \"a\": it has no function that makes it");
    CHECK(refusal([](ConfigTypes& types) { types.register_counter(CounterType<Modal>{.type = "a"}); }) ==
          "register \"a\": it has no function that makes it");
    CHECK(refusal([](ConfigTypes& types) { types.register_store_wrapper(StoreWrapper<Modal>{.type = "a"}); }) ==
          "register \"a\": it has no function that makes it");
}

TEST_CASE("a key of a store around others is that of no other, so that each gets what the file says", "[config_json]") {
    CHECK(refusal([](ConfigTypes& types) {
              types.register_store_wrapper(around("a", {{"root", &Modal::root, "x"}}));
          }) == "register store around others \"a\": \"file\" has the key \"root\"");
    CHECK(refusal([](ConfigTypes& types) {
              types.register_store_wrapper(around("a", {{"redaction", &Modal::redaction, "x"}}));
              types.register_store_wrapper(around("b", {{"redaction", &Modal::redaction, "x"}}));
          }) == "register store around others \"b\": \"a\" has the key \"redaction\"");
    CHECK(refusal([](ConfigTypes& types) {
              types.register_store_wrapper(around("a", {{.name = "on", .member = &Modal::root, .required = true}}));
          }).find("is required") != std::string::npos);
}

TEST_CASE("only a middleware's keys can name a model or a storage", "[config_json]") {
    const auto open = [](const Bounds&, const ConfigContext&) { return memory_storage(); };
    CHECK(refusal([&](ConfigTypes& types) {
              types.register_store(StoreType<Bounds>{
                  .type = "a", .fields = {{.name = "m", .member = ModelMember{}, .meaning = "x"}}, .open = open});
          }).find("only a middleware's own keys") != std::string::npos);
    CHECK(refusal([&](ConfigTypes& types) {
              types.register_store(
                  StoreType<Bounds>{.type = "a", .fields = {own_storage_field(&Bounds::storage)}, .open = open});
          }).find("only a middleware's own keys") != std::string::npos);
}

TEST_CASE("a host's profiles can be named as those of the core", "[config_json]") {
    ConfigTypes types;
    types.register_cache_profile({.name = "mine", .read = 0.5, .ttl_seconds = 60});
    ValidityProfile rules = openai_chat();
    rules.name = "lenient";
    types.register_validity_profile(rules);
    const ChainSettings settings =
        read_chain_settings(R"({"profile": {"cache": "mine", "validity": "lenient"}})", {.types = types});
    CHECK(settings.config.profile.cache.read == 0.5);
    CHECK(settings.config.profile.validity.name == "lenient");
    CHECK_THROWS_AS(types.register_cache_profile({.name = "mine"}), Error);
    CHECK_THROWS_AS(types.register_validity_profile(openai_chat()), Error);
    CHECK(read_error(R"({"profile": {"cache": "mine"}})").find("unknown cache \"mine\"") != std::string::npos);
}

TEST_CASE("a preset that is written out keeps all that the entries say", "[config_json]") {
    const auto written = ordered_json::parse(expand_preset(
        R"({"preset": "recommended", "profile": {"context_window": 50000},
            "models": {"a": {"type": "scripted", "replies": ["x"]}, "b": {"type": "scripted", "replies": ["x"]}},
            "middlewares": [{"type": "summarization", "failover": {"model": "b"}},
                            {"type": "reduction", "tool_config": {"bash": {"backend": {"type": "memory"}}}},
                            {"type": "token_saving", "perplexity_classifier": "frequency"}, {"type": "compaction"}]})",
        {.lookup = [](std::string_view name) {
            return name == "AGENT_COMPACTION_THRESHOLD" ? std::optional<std::string>("9000") : std::nullopt;
        }}));
    for (const ordered_json& entry : written["middlewares"]) {
        if (entry["type"] == "summarization") CHECK(entry["failover"]["model"] == "b");
        if (entry["type"] == "reduction") CHECK(entry["tool_config"]["bash"]["backend"]["type"] == "memory");
        if (entry["type"] == "token_saving") CHECK(entry["perplexity_classifier"] == "frequency");
        if (entry["type"] == "compaction") CHECK(entry == ordered_json{{"type", "compaction"}});
    }
    CHECK(written["middlewares"].size() == 5);
}
