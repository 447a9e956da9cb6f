#include "log_file.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// As a request with one prompt was billed, by its response's "usage".
Usage billed_for(const std::string& usage) {
    std::string line =
        R"({"request": {"model": "m", "messages": [{"role": "user", "content": "hi"}]}, "response": {"id": "r",
            "choices": [{"message": {"role": "assistant", "content": "hello"}}], "usage": )" +
        usage + "}}";
    std::ranges::replace(line, '\n', ' ');
    const ReadLog log = read_text_as(line, logs::Format::exchanges);
    return logs::billed(log.sessions.at(0));
}

}  // namespace

TEST_CASE("a prompt of OpenAI holds what was written to the cache", "[logs]") {
    CHECK(billed_for(R"({"prompt_tokens": 2600, "completion_tokens": 10,
                         "prompt_tokens_details": {"cached_tokens": 2000, "cache_write_tokens": 400}})") ==
          Usage{200, 2'000, 400, 10});
    CHECK(billed_for(R"({"input_tokens": 2600, "output_tokens": 10,
                         "input_tokens_details": {"cached_tokens": 2000, "cache_write_tokens": 400}})") ==
          Usage{200, 2'000, 400, 10});
    CHECK(billed_for(R"({"prompt_tokens": 7, "completion_tokens": 1, "prompt_tokens_details": null})") ==
          Usage{7, 0, 0, 1});
}

TEST_CASE("what gateways say of the cache is read under their names", "[logs]") {
    CHECK(billed_for(R"({"prompt_tokens": 10120, "completion_tokens": 50,
                         "prompt_tokens_details": {"cached_tokens": 8000, "cache_creation_tokens": 2000},
                         "cache_creation_input_tokens": 2000, "cache_read_input_tokens": 8000})") ==
          Usage{120, 8'000, 2'000, 50});
    CHECK(billed_for(R"({"prompt_tokens": 10120, "completion_tokens": 50, "cache_creation_input_tokens": 2000,
                         "cache_read_input_tokens": 8000})") == Usage{120, 8'000, 2'000, 50});
    CHECK(billed_for(R"({"prompt_tokens": 10000, "completion_tokens": 50, "prompt_cache_hit_tokens": 9000,
                         "prompt_cache_miss_tokens": 1000})") == Usage{1'000, 9'000, 0, 50});
}

TEST_CASE("how long what was written to the cache lives is told by Anthropic, and by LiteLLM in its details",
          "[logs]") {
    CHECK(billed_for(R"({"input_tokens": 120, "output_tokens": 50, "cache_creation_input_tokens": 2000,
                         "cache_creation": {"ephemeral_5m_input_tokens": 500, "ephemeral_1h_input_tokens": 1500}})") ==
          Usage{120, 0, 2'000, 50, 500, 1'500});
    CHECK(billed_for(R"({"prompt_tokens": 10120, "completion_tokens": 50, "prompt_tokens_details":
                         {"cached_tokens": 8000, "cache_creation_tokens": 2000, "cache_creation_token_details":
                          {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 2000}}})") ==
          Usage{120, 8'000, 2'000, 50, 0, 2'000});
    // Where a gateway says at the end that nothing was written, nothing lives
    CHECK(billed_for(R"({"input_tokens": 120, "output_tokens": 50, "cache_creation_input_tokens": 0,
                         "cache_creation": {"ephemeral_1h_input_tokens": 1500}})") == Usage{120, 0, 0, 50});
    CHECK(billed_for(R"({"input_tokens": 120, "output_tokens": 50, "cache_creation_input_tokens": 7,
                         "cache_creation": null})") == Usage{120, 0, 7, 50});
}

TEST_CASE("what Anthropic says of the cache stands beside the input", "[logs]") {
    CHECK(billed_for(R"({"input_tokens": 120, "output_tokens": 50, "cache_creation_input_tokens": 2000,
                         "cache_read_input_tokens": 8000})") == Usage{120, 8'000, 2'000, 50});
}
