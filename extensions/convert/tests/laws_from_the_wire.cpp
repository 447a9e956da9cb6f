// The laws on messages that a stream brought: each reply is sent as its provider would, in small pieces, and read back.
#include "support/laws.hpp"
#include "support/scripted_transport.hpp"
#include "support/wire_mirror.hpp"
#include "whittle/anthropic/anthropic_model.hpp"
#include "whittle/openai/openai_chat_model.hpp"
#include "whittle/reduction/reduction.hpp"

#include <memory>
#include <string>
#include <type_traits>

using namespace whittle;
using namespace whittle::testing;

namespace {

template <typename M>
M received(const std::shared_ptr<ScriptedTransport>& transport) {
    const DeltaSink ignore = [](const Delta&) {};
    const M question = message_traits<M>::make(Role::user, "?");
    const ModelRequest<M> request{.messages = {&question, 1}, .on_delta = &ignore};
    if constexpr (std::is_same_v<M, openai::Message>) {
        return OpenAIChatModel(transport, {.model = "m", .api_key = "k"}).generate(request).message;
    } else {
        return AnthropicModel(transport, {.model = "m", .api_key = "k", .max_output_tokens = 9})
            .generate(request)
            .message;
    }
}

std::string stream_of(const openai::Message& m) { return chat_stream(m); }
std::string stream_of(const anthropic::Message& m) { return messages_stream(m); }

/// Only replies come over the wire, and of broken histories only those that a stream can carry.
bool can_be_sent(const openai::Message& m) { return m.json()["role"] == "assistant"; }
bool can_be_sent(const anthropic::Message& m) {
    if (m.json()["role"] != "assistant") return false;
    return std::ranges::all_of(m.json()["content"], [](const auto& block) {
        return block["type"] != "tool_use" || block["input"].is_object();
    });
}

template <typename M>
nlohmann::ordered_json content_of(const M& m) {
    const auto calls = m.json().find("tool_calls");
    return {m.json().value("content", nlohmann::ordered_json()), calls != m.json().end() ? *calls : nullptr};
}

template <typename M>
void run_laws_from_the_wire() {
    std::size_t sent = 0;
    Subject<M> subject =
        subject_of<M>([](auto) { return Reduction<M>{{.max_length_for_trunc = 400, .max_tokens_for_clear = 200}}; },
                      {.looks_at_sizes_only = false});
    subject.arrive = [&](const M& m) {
        if (!can_be_sent(m)) return m;
        ++sent;
        M arrived = received<M>(std::make_shared<ScriptedTransport>(answer_events(stream_of(m))));
        if (content_of(arrived) != content_of(m)) FAIL(m.json().dump() << "\n" << arrived.json().dump());
        return arrived;
    };
    for (const Law<M>& law : all_laws<M>()) {
        INFO(law.id);
        CHECK(check_law(law, subject) == Failures{});
    }
    CHECK(sent > 500);
}

}  // namespace

TEST_CASE("every law holds for chat completions that came from a stream", "[laws][backend]") {
    run_laws_from_the_wire<openai::Message>();
}

TEST_CASE("every law holds for Anthropic messages that came from a stream", "[laws][backend]") {
    run_laws_from_the_wire<anthropic::Message>();
}
