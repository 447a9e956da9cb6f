// A host's own types of middlewares in configurations.
#include "whittle/config/config_json.hpp"
#include "whittle/openai/openai.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

struct EveryKind {
    bool flag = true;
    int count = 3;
    std::int64_t tokens = 5'000'000'000;
    double share = 0.25;
    std::string word = "front";
    std::vector<std::string> tools{"bash", "skill"};
};

using Kind = EveryKind;

MiddlewareType<Kind> every_kind() {
    return {
        .type = "every_kind",
        .fields =
            {{.name = "model", .member = ModelMember{}, .meaning = "a name of `models`", .documented_default = "none"},
             {.name = "flag", .member = &Kind::flag, .meaning = "a flag"},
             {.name = "count", .member = &Kind::count, .meaning = "a count", .lowest = 1},
             {.name = "tokens", .member = &Kind::tokens, .meaning = "tokens"},
             {.name = "share", .member = &Kind::share, .meaning = "a share", .highest = 1},
             {.name = "word", .member = &Kind::word, .meaning = "a word", .words = {"front", "back"}},
             {.name = "tools", .member = &Kind::tools, .meaning = "names", .required = true}},
        .check =
            [](const Kind& config, const ChainInfo& chain, std::string_view, Problems& problems) {
                if (config.tokens == 7) problems.error("tokens", "7", "another number");
                if (config.count > 100) problems.warning("count", std::to_string(config.count), "100 or less");
                if (!chain.config.verify) problems.error("share", "0.25", "nothing without `verify`");
            },
    };
}

template <AgentMessage M>
class Recorded final : public Middleware<M> {
public:
    Recorded(Kind config, MiddlewareBuildContext<M> context)
        : config_(std::move(config)), context_(std::move(context)) {}

    [[nodiscard]] std::string_view name() const noexcept override { return context_.name_in_config; }
    [[nodiscard]] const Kind& config() const noexcept { return config_; }
    [[nodiscard]] std::shared_ptr<Model<M>> model() const { return context_.model(); }

private:
    Kind config_;
    MiddlewareBuildContext<M> context_;
};

const auto make_recorded = []<AgentMessage M>(const Kind& config, const MiddlewareBuildContext<M>& context) {
    return std::make_shared<Recorded<M>>(config, context);
};

ConfigTypes with_every_kind() {
    ConfigTypes types;
    types.register_middleware<ChatMessage, openai::Message>(every_kind(), make_recorded);
    return types;
}

ChainSettings settings_of_types(std::string_view json) {
    return read_chain_settings(json, {.name = "c", .types = with_every_kind()});
}

std::string types_error(std::string_view json) {
    try {
        static_cast<void>(settings_of_types(json));
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

Errc refusal_of(ConfigTypes& types, MiddlewareType<Kind> type) {
    try {
        types.register_middleware<ChatMessage>(std::move(type), make_recorded);
    } catch (const Error& error) {
        return error.errc();
    }
    return Errc::invalid_history;  // no refusal at all
}

template <AgentMessage M>
const Recorded<M>& first_of(const Chain<M>& chain) {
    return dynamic_cast<const Recorded<M>&>(*chain.stages().at(0));
}

}  // namespace

TEST_CASE("a registered type is read, checked and made, with every kind of key", "[config_json]") {
    const ChainSettings settings =
        settings_of_types(R"({"models": {"m": {"type": "scripted", "replies": ["x"]}}, "middlewares": [
        {"type": "every_kind", "name": "mine", "model": "m", "flag": false, "count": 9, "tokens": 8, "share": 0.5,
         "word": "back", "tools": ["a"]}, {"type": "reduction", "skip_truncation": true}]})");
    const Chain<ChatMessage> chain = make_chain<ChatMessage>(settings);
    REQUIRE(chain.stages().size() == 2);
    const Recorded<ChatMessage>& made = first_of(chain);
    CHECK(made.name() == "mine");
    CHECK(made.model() != nullptr);
    CHECK_FALSE(made.config().flag);
    CHECK(made.config().count == 9);
    CHECK(made.config().tokens == 8);
    CHECK(made.config().share == 0.5);
    CHECK(made.config().word == "back");
    CHECK(made.config().tools == std::vector<std::string>{"a"});
    CHECK(std::any_cast<Kind>(settings.stages[0].config).count == 9);
}

TEST_CASE("what an entry of a registered type leaves out has the default of its structure", "[config_json]") {
    const ChainSettings settings = settings_of_types(R"({"middlewares": [{"type": "every_kind", "tools": []}]})");
    const Chain<openai::Message> chain = make_chain<openai::Message>(settings);
    CHECK(chain.stages().at(0)->name() == "every_kind");
    CHECK(first_of(chain).model() == nullptr);
    CHECK(first_of(chain).config().tokens == 5'000'000'000);
    CHECK(first_of(chain).config().word == "front");
}

TEST_CASE("errors of a registered type have their place and suggestion as those of the built-in ones",
          "[config_json]") {
    CHECK(types_error("{\"middlewares\": [\n {\"type\": \"every_kind\",\n  \"cont\": 1, \"count\": 0, \"share\": 2, "
                      "\"word\": \"bac\", \"flag\": 1, \"tokens\": 1.5}]}") ==
          "read configuration: 7 problems\n"
          "c:3:3: middlewares[0].cont: unknown key \"cont\"; did you mean \"count\"? allowed: type, name, model, "
          "flag, count, tokens, share, word, tools\n"
          "c:3:14: middlewares[0].count: found 0, expected an integer from 1 to 2147483647\n"
          "c:3:26: middlewares[0].share: found 2, expected a number from 0 to 1\n"
          "c:3:38: middlewares[0].word: unknown word \"bac\"; did you mean \"back\"? allowed: front, back\n"
          "c:3:53: middlewares[0].flag: found 1, expected true or false\n"
          "c:3:64: middlewares[0].tokens: found 1.5, expected an integer, 0 or more\n"
          "c:2:2: middlewares[0].tools: missing, expected an array of strings");
    CHECK(types_error(R"({"middlewares": [{"type": "evry_kind"}]})").find("did you mean \"every_kind\"?") !=
          std::string::npos);
    CHECK(types_error(R"({"middlewares": [{"type": "every_kind", "tools": [], "flag": true, "flag": true}]})")
              .find("duplicate key") != std::string::npos);
    CHECK(types_error(R"({"middlewares": [{"type": "every_kind", "tools": [], "model": "x"}]})")
              .find("middlewares[0].model: unknown model \"x\"") != std::string::npos);
}

TEST_CASE("the check of a registered type is told the chain, and its problems have their place", "[config_json]") {
    CHECK(types_error(R"({"middlewares": [{"type": "every_kind", "tools": [], "tokens": 7}]})") ==
          "read configuration: 1 problem\nc:1:54: middlewares[0].tokens: found 7, expected another number");
    CHECK(types_error(R"({"verify": false, "middlewares": [{"type": "every_kind", "tools": []}]})") ==
          "read configuration: 1 problem\nc:1:35: middlewares[0].share: found 0.25 (the default), expected nothing "
          "without `verify`");
    const ChainSettings settings =
        settings_of_types(R"({"middlewares": [{"type": "every_kind", "tools": [], "count": 101}]})");
    CHECK(settings.warnings ==
          std::vector<std::string>{"c:1:54: middlewares[0].count: found 101, expected 100 or less"});
}

TEST_CASE("a type can be registered once, and under no name that whittle has", "[config_json]") {
    ConfigTypes types;
    CHECK(refusal_of(types, every_kind()) == Errc::invalid_history);
    CHECK(refusal_of(types, every_kind()) == Errc::already_exists);
    for (const char* name : {"reduction", "summarization", "token_saving", "pruning", "compaction"})
        CHECK(refusal_of(types, {.type = name}) == Errc::already_exists);
    for (const char* name : {"", "Upper", "with space", "with-dash"})
        CHECK(refusal_of(types, {.type = name}) == Errc::invalid_argument);
    CHECK(detail::rows_of(types).middlewares.size() == 1);
}

TEST_CASE("a registered type has a member for every key, and no key twice", "[config_json]") {
    ConfigTypes types;
    constexpr bool Kind::*none = nullptr;
    CHECK(refusal_of(types, {.type = "a", .fields = {{"x", none}}}) == Errc::invalid_argument);
    CHECK(refusal_of(types, {.type = "a", .fields = {{"", &Kind::flag}}}) == Errc::invalid_argument);
    CHECK(refusal_of(types, {.type = "a", .fields = {{"name", &Kind::word}}}) == Errc::invalid_argument);
    CHECK(refusal_of(types, {.type = "a", .fields = {{"x", &Kind::flag}, {"x", &Kind::count}}}) ==
          Errc::invalid_argument);
    CHECK(detail::rows_of(types).middlewares.empty());
}

TEST_CASE("a registered type is refused where a key could not have its own default", "[config_json]") {
    ConfigTypes types;
    const auto refusal = [&](ConfigField<Kind> field) { return refusal_of(types, {.type = "a", .fields = {field}}); };
    CHECK(refusal({.name = "x", .member = &Kind::count, .lowest = 4}) == Errc::invalid_argument);
    CHECK(refusal({.name = "x", .member = &Kind::tokens, .highest = 4}) == Errc::invalid_argument);
    CHECK(refusal({.name = "x", .member = &Kind::share, .lowest = 1}) == Errc::invalid_argument);
    CHECK(refusal({.name = "x", .member = &Kind::word, .words = {"back"}}) == Errc::invalid_argument);
    CHECK(refusal({.name = "x", .member = &Kind::count, .lowest = 9, .highest = 8, .required = true}) ==
          Errc::invalid_argument);
    CHECK(detail::rows_of(types).middlewares.empty());
    CHECK(refusal({.name = "x", .member = &Kind::count, .lowest = 4, .required = true}) == Errc::invalid_history);
}

TEST_CASE("a registered type is refused for words of a number, dots in keys, and members filled twice",
          "[config_json]") {
    ConfigTypes types;
    CHECK(refusal_of(types, {.type = "a", .fields = {{.name = "x", .member = &Kind::flag, .words = {"on"}}}}) ==
          Errc::invalid_argument);
    CHECK(refusal_of(types, {.type = "a", .fields = {{.name = "x", .member = &Kind::count, .words = {"3"}}}}) ==
          Errc::invalid_argument);
    CHECK(refusal_of(types, {.type = "a", .fields = {{"x.y", &Kind::flag}}}) == Errc::invalid_argument);
    CHECK(refusal_of(types, {.type = "a", .fields = {{"x", &Kind::flag}, {"y", &Kind::flag}}}) ==
          Errc::invalid_argument);
    for (const char* section : {"profile", "tokens", "limits", "models", "storage"})
        CHECK(refusal_of(types, {.type = section}) == Errc::already_exists);
    CHECK(detail::rows_of(types).middlewares.empty());
}

TEST_CASE("settings that were not read are refused, not dereferenced", "[config_json]") {
    const ChainSettings good = settings_of_types(R"({"middlewares": [{"type": "every_kind", "tools": []}]})");
    ChainSettings bad = good;
    bad.stages[0].type = "unknown";
    CHECK_THROWS_AS(make_chain<ChatMessage>(bad), Error);
    bad = good;
    bad.stages[0].config = std::string("another type");
    CHECK_THROWS_WITH(make_chain<ChatMessage>(bad), Catch::Matchers::Contains("another type's configuration"));
    bad.stages[0].config.reset();
    CHECK_THROWS_AS(make_chain<ChatMessage>(bad), Error);
}

TEST_CASE("a maker that makes nothing, or one of another name, is named", "[config_json]") {
    const auto error_with = [](auto make) -> std::string {
        ConfigTypes types;
        types.register_middleware<ChatMessage>(MiddlewareType<Kind>{.type = "mine"}, make);
        const ChainSettings settings =
            read_chain_settings(R"({"middlewares": [{"type": "mine", "name": "first"}]})", {.types = types});
        try {
            static_cast<void>(make_chain<ChatMessage>(settings));
        } catch (const Error& error) {
            return error.what();
        }
        return {};
    };
    CHECK(error_with([](const Kind&, const auto&) { return std::shared_ptr<Middleware<ChatMessage>>(); }) ==
          "make middleware \"first\": the maker of type \"mine\" made none");
    CHECK(error_with([](const Kind& config, const MiddlewareBuildContext<ChatMessage>&) {
              return std::make_shared<Recorded<ChatMessage>>(
                  config, MiddlewareBuildContext<ChatMessage>{.name_in_config = "other"});
          }) == "make middleware \"first\": the maker of type \"mine\" made one named \"other\"");
}

namespace {

/// What a check was told of the chain.
struct Told {
    std::vector<std::string> middlewares{};
    std::vector<std::string> tasks{};
};

MiddlewareType<Kind> telling(Told& reported) {
    return {.type = "mine",
            .fields = {{"flag", &Kind::flag}},
            .check =
                [&reported](const Kind&, const ChainInfo& chain, std::string_view, Problems& problems) {
                    reported = {{chain.middlewares.begin(), chain.middlewares.end()},
                                {chain.exclusive_tasks.begin(), chain.exclusive_tasks.end()}};
                    problems.warning("second.flag", "true", "false");
                    problems.warning("", "this", "that");
                },
            .exclusive_task = "fold"};
}

}  // namespace

TEST_CASE("the check of a registered type is told all middlewares by name, and may name itself", "[config_json]") {
    Told reported;
    ConfigTypes types;
    types.register_middleware<ChatMessage>(telling(reported), make_recorded);
    const ChainSettings settings = read_chain_settings(
        R"({"middlewares": [{"type": "reduction", "skip_truncation": true}, {"type": "mine", "name": "second",
  "flag": true}, {"type": "pruning"}]})",
        {.name = "c", .types = types});
    CHECK(reported.middlewares == std::vector<std::string>{"reduction", "second", "pruning"});
    CHECK(reported.tasks == std::vector<std::string>{"", "fold", ""});
    CHECK(settings.warnings == std::vector<std::string>{"c:2:3: middlewares[1].flag: found true, expected false",
                                                        "c:1:66: middlewares[1]: found this, expected that"});
}

TEST_CASE("what the check of a registered type throws reaches who reads", "[config_json]") {
    ConfigTypes types;
    types.register_middleware<ChatMessage>(
        MiddlewareType<Kind>{.type = "mine",
                             .check = [](const Kind&, const ChainInfo&, std::string_view,
                                         Problems&) { throw std::runtime_error("no licence"); }},
        make_recorded);
    CHECK_THROWS_WITH(read_chain_settings(R"({"middlewares": [{"type": "mine"}]})", {.types = types}), "no licence");
}

TEST_CASE("an entry must have a model where its type says so, and a word where one is required", "[config_json]") {
    ConfigTypes types;
    types.register_middleware<ChatMessage>(
        MiddlewareType<Kind>{
            .type = "mine",
            .fields = {{.name = "model", .member = ModelMember{}, .required = true},
                       {.name = "word", .member = &Kind::word, .words = {"front", "back"}, .required = true}}},
        make_recorded);
    CHECK_THROWS_WITH(read_chain_settings(R"({"middlewares": [{"type": "mine"}]})", {.name = "c", .types = types}),
                      "read configuration: 2 problems\n"
                      "c:1:18: middlewares[0].model: missing, expected a name of `models`\n"
                      "c:1:18: middlewares[0].word: missing, expected one of \"front\", \"back\"");
}

TEST_CASE("a chain for a message type that nobody registered is refused by the type's name", "[config_json]") {
    ConfigTypes types;
    types.register_middleware<openai::Message>(every_kind(), make_recorded);
    const ChainSettings settings =
        read_chain_settings(R"({"middlewares": [{"type": "every_kind", "tools": []}]})", {.types = types});
    CHECK_NOTHROW(make_chain<openai::Message>(settings));
    CHECK_THROWS_WITH(make_chain<ChatMessage>(settings),
                      "make middleware: type \"every_kind\" is not registered for this message type");
}

TEST_CASE("settings of a registered type outlive the list of types", "[config_json]") {
    ChainSettings settings;
    {
        const ConfigTypes types = with_every_kind();
        settings = read_chain_settings(R"({"middlewares": [{"type": "every_kind", "tools": []}]})", {.types = types});
    }
    CHECK(first_of(make_chain<ChatMessage>(settings)).config().count == 3);
}

TEST_CASE("the keys of a registered type are listed with the defaults of its structure", "[config_json]") {
    std::vector<std::string> listed;
    for (const ConfigKey& key : config_keys(with_every_kind()))
        if (key.path.starts_with("every_kind.")) listed.push_back(key.path.substr(11) + ": " + key.documented_default);
    CHECK(listed == std::vector<std::string>{"type: required", "name: every_kind", "model: none", "flag: true",
                                             "count: 3", "tokens: 5000000000", "share: 0.25", "word: front",
                                             "tools: required"});
    CHECK(config_keys().size() + listed.size() == config_keys(with_every_kind()).size());
}
