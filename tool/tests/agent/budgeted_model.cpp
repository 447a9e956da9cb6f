#include "agent/budgeted_model.hpp"

#include "support/catch.hpp"
#include "support/errc_of.hpp"

#include <whittle/model/scripted_model.hpp>

#include <cmath>
#include <optional>
#include <string>

using whittle::Errc;
using whittle::openai::Message;
using whittle::testing::errc_of;

namespace {

const whittle::PricesPerMillion one_a_million{.input = 1.0, .cache_read = 1.0, .cache_write = 1.0, .output = 1.0};

Message user(const std::string& text) { return whittle::message_traits<Message>::make(whittle::Role::user, text); }

/// Answers "yes" with that usage.
std::shared_ptr<whittle::Model<Message>> reporting(std::optional<whittle::Usage> usage) {
    return std::make_shared<whittle::ScriptedModel<Message>>([usage](const whittle::ModelRequest<Message>&) {
        return whittle::Reply<Message>{whittle::message_traits<Message>::make(whittle::Role::assistant, "yes"), usage};
    });
}

}  // namespace

TEST_CASE("a call is paid for by the usage that the server reports", "[agent]") {
    agent::Spending spending(one_a_million, 0.0);
    const Message question = user("?");
    (void)agent::budgeted_model(reporting(whittle::Usage{.uncached_input = 700'000, .output = 300'000}), spending,
                                whittle::chars_counter())
        ->generate({.messages = {&question, 1}});
    CHECK(std::abs(spending.spent() - 1.0) < 1e-9);
}

TEST_CASE("a server that reports nothing, or zeros, is paid by estimate and meets the limit", "[agent]") {
    const Message question = user(std::string(40'000, 'x'));
    for (const auto& usage : {std::optional<whittle::Usage>(), std::optional(whittle::Usage{})}) {
        agent::Spending spending(one_a_million, 0.005);
        const auto model = agent::budgeted_model(reporting(usage), spending, whittle::chars_counter());
        (void)model->generate({.messages = {&question, 1}});
        CHECK(spending.spent() > 0.0099);
        CHECK(spending.spent() < 0.0101);
        CHECK(errc_of([&] { (void)model->generate({.messages = {&question, 1}}); }) == Errc::limit_exceeded);
    }
}

TEST_CASE("the configuration's models are paid for, and the requests of middlewares counted", "[agent]") {
    agent::Spending spending(one_a_million, 0.01);
    const auto make = agent::budgeted_models(
        [](const whittle::ModelSettings& settings) {
            CHECK(settings.name == "summarizer");
            return reporting(whittle::Usage{.uncached_input = 9'000, .cache_read = 1'000, .output = 500});
        },
        spending, whittle::chars_counter());
    const auto model = make({.name = "summarizer"});
    const Message question = user("?");
    (void)model->generate({.messages = {&question, 1}, .purpose = "summarization"});
    CHECK(spending.side_calls().calls == 1);
    CHECK(spending.side_calls().tokens == 10'000);
    CHECK(std::abs(spending.spent() - 0.0105) < 1e-9);
    CHECK(errc_of([&] {
              (void)model->generate({.messages = {&question, 1}, .purpose = "summarization"});
          }) == Errc::limit_exceeded);
}
