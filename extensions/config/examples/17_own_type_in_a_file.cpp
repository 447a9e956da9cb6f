// A middleware of one's own that a configuration file can name, with its keys checked as those of whittle are.
#include <whittle/config/config_json.hpp>
#include <whittle/whittle.hpp>

#include <iostream>

using namespace whittle;

// [config]
struct OldAnswersConfig {
    std::int64_t limit_tokens = 4'000;  ///< nothing is done up to this many tokens
    int keep_answers = 2;               ///< newest answers that stay as they are
    std::string text = "(answered)";    ///< stands where an older answer was
};

MiddlewareType<OldAnswersConfig> old_answers_type() {
    using Config = OldAnswersConfig;
    return {.type = "old_answers",
            .fields = {{"limit_tokens", &Config::limit_tokens, "nothing is done up to this many tokens"},
                       {"keep_answers", &Config::keep_answers, "newest answers that stay as they are"},
                       {"text", &Config::text, "stands where an older answer was"}},
            .check = [](const Config& config, const ChainInfo& chain, std::string_view, Problems& problems) {
                const std::int64_t window = chain.config.profile.context_window;
                if (window > 0 && config.limit_tokens > window)
                    problems.error("limit_tokens", std::to_string(config.limit_tokens), "at most the context window");
            }};
}
// [/config]

namespace {

/// Replaces all answers but the newest ones by a text.
template <AgentMessage M>
class OldAnswers final : public Middleware<M> {
public:
    OldAnswers(OldAnswersConfig config, std::string name) : config_(std::move(config)), name_(std::move(name)) {}

    std::string_view name() const noexcept override { return name_; }

    void before_model(Turn<M>& turn) override {
        turn.report.count = turn.context_tokens();
        turn.report.threshold = config_.limit_tokens;
        turn.report.outcome = Outcome::not_due;
        if (turn.report.count <= config_.limit_tokens) return;
        auto edit = turn.edit();
        int seen = 0;
        for (std::size_t i = edit.outline().size(); i-- > 0;) {
            const MessageInfo& info = edit.outline()[i];
            const bool is_answer = info.role == Role::assistant && info.parts.size() == 1;
            if (is_answer && ++seen > config_.keep_answers && edit.may_edit(i) && !mark_of(info, 0))
                edit.set_text(i, 0, config_.text, {.origin = Origin::placeholder, .reason = "old answer"});
        }
        edit.commit();
    }

private:
    OldAnswersConfig config_;
    std::string name_;
};

// [register]
ConfigTypes own_types() {
    ConfigTypes types;
    const auto make = []<AgentMessage M>(const OldAnswersConfig& config, const MiddlewareBuildContext<M>& stage) {
        return std::make_shared<OldAnswers<M>>(config, stage.name_in_config);
    };
    types.register_middleware<ChatMessage>(old_answers_type(), make);  // or <ChatMessage, openai::Message>
    return types;
}
// [/register]

Chain<ChatMessage> chain_from(std::string_view json) {
    const ChainSettings settings = read_chain_settings(json, {.name = "chain.json", .types = own_types()});
    return make_chain<ChatMessage>(settings);
}

}  // namespace

int main() {
    try {
        chain_from(
            "{\"middlewares\": [\n  {\"type\": \"old_answers\", \"keep_answer\": 1, \"limit_tokens\": \"many\"}\n]}");
    } catch (const Error& error) {
        std::cout << error.what() << "\n\n";
    }
    for (const ConfigKey& key : config_keys(own_types()))
        if (key.path.starts_with("old_answers."))
            std::cout << key.path << ": " << key.type << ", default " << key.documented_default << ": " << key.meaning
                      << '\n';

    const Chain chain =
        chain_from(R"({"middlewares": [{"type": "old_answers", "limit_tokens": 100, "keep_answers": 1}]})");
    Conversation conversation("answers");
    for (const char* question : {"What is a heap?", "And a stack?", "And a queue?"}) {
        conversation.push_back(ChatMessage::user(question));
        conversation.push_back(ChatMessage::assistant("It is a place for data. " + std::string(300, '~')));
    }
    conversation.push_back(ChatMessage::user("Thanks."));
    std::cout << '\n' << to_text(chain.before_model(conversation));
}
