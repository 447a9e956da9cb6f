#include "whittle/servers/server_tokens.hpp"

#include "server_exchange.hpp"
#include "whittle/openai/detail/openai_request.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace {

using detail::query_server;
using detail::ServerAnswer;
using nlohmann::ordered_json;

[[noreturn]] void fail_count(std::string_view path, const ServerAnswer& answer) {
    throw ModelError(ModelErrorClass::server,
                     fmt::format("count tokens: {} answered with status {} and no count", path, answer.status));
}

/// llama-server has a list alone, vLLM a count beside it.
std::int64_t tokens_in(std::string_view path, const ServerAnswer& answer) {
    if (answer.is_object() && answer.json.contains("count") && answer.json["count"].is_number_integer())
        return answer.json["count"].get<std::int64_t>();
    if (!answer.is_object() || !answer.json.contains("tokens") || !answer.json["tokens"].is_array())
        fail_count(path, answer);
    return static_cast<std::int64_t>(answer.json["tokens"].size());
}

std::string dumped(const ordered_json& json) {
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::int64_t count_text(HttpTransport& transport, const ServerAddress& address, ServerKind kind,
                        std::string_view text) {
    const ordered_json body =
        kind == ServerKind::vllm
            ? ordered_json{{"model", address.model}, {"prompt", text}, {"add_special_tokens", false}}
            : ordered_json{{"content", text}, {"add_special", false}, {"parse_special", false}};
    return tokens_in("/tokenize", query_server(transport, address, "/tokenize", dumped(body)));
}

std::int64_t count_body(HttpTransport& transport, const ServerAddress& address, ServerKind kind, std::string body) {
    if (kind == ServerKind::vllm)
        return tokens_in("/tokenize", query_server(transport, address, "/tokenize", std::move(body)));
    const ServerAnswer applied = query_server(transport, address, "/apply-template", std::move(body));
    if (!applied.is_object() || !applied.json.contains("prompt")) fail_count("/apply-template", applied);
    const ordered_json prompt{{"content", applied.json["prompt"]}, {"add_special", true}, {"parse_special", true}};
    return tokens_in("/tokenize", query_server(transport, address, "/tokenize", dumped(prompt)));
}

class ServerCounter final : public TokenCounter {
public:
    ServerCounter(std::shared_ptr<HttpTransport> transport, ServerAddress address, ServerKind kind, EventSink on_event)
        : transport_(std::move(transport)),
          address_(std::move(address)),
          kind_(kind),
          on_event_(std::move(on_event)),
          id_(fmt::format("server/{}/{}", to_string(kind), address_.model)) {
        around_ = learn_around();
    }

    [[nodiscard]] std::string_view id() const noexcept override { return id_; }

    [[nodiscard]] std::int64_t measure_units(std::string_view text) const override {
        if (text.empty()) return 0;
        const Hash128 hash = hash128(text);
        if (const auto known = find(hash, text.size())) return *known;
        try {
            const std::int64_t count = count_text(*transport_, address_, kind_, text);
            keep(hash, {text.size(), count});
            return count;
        } catch (const ModelError& error) {
            emit(on_event_, {.level = Event::Level::warning,
                             .source = "server_counter",
                             .kind = "tokenizer_failed",
                             .text = error.what()});
            return fallback_->count(text);
        }
    }

    [[nodiscard]] std::int64_t to_tokens(std::int64_t units) const noexcept override { return units + around_; }

private:
    struct Known {
        std::size_t size = 0;
        std::int64_t tokens = 0;
    };
    struct HashOf {
        std::size_t operator()(const Hash128& hash) const noexcept { return hash.low; }
    };

    /// What two messages more cost, beside their texts.
    [[nodiscard]] std::int64_t learn_around() const {
        const auto size = [&](std::size_t messages) {
            ordered_json list = ordered_json::array();
            for (std::size_t i = 0; i < messages; ++i)
                list.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", "a"}});
            return count_body(*transport_, address_, kind_, dumped({{"model", address_.model}, {"messages", list}}));
        };
        const std::int64_t both = size(3) - size(1);
        return std::max<std::int64_t>(0, (both + 1) / 2 - count_text(*transport_, address_, kind_, "a"));
    }

    [[nodiscard]] std::optional<std::int64_t> find(const Hash128& hash, std::size_t size) const {
        const std::lock_guard lock(mutex_);
        const auto found = known_.find(hash);
        if (found == known_.end() || found->second.size != size) return std::nullopt;
        return found->second.tokens;
    }

    void keep(const Hash128& hash, Known known) const {
        constexpr std::size_t most = 65'536;
        const std::lock_guard lock(mutex_);
        if (known_.size() >= most) known_.clear();
        known_[hash] = known;
    }

    std::shared_ptr<HttpTransport> transport_;
    ServerAddress address_;
    ServerKind kind_;
    EventSink on_event_;
    std::string id_;
    std::int64_t around_ = 0;
    std::shared_ptr<const TokenCounter> fallback_ = estimate_counter();
    mutable std::mutex mutex_{};
    mutable std::unordered_map<Hash128, Known, HashOf> known_{};
};

}  // namespace

std::optional<std::int64_t> count_request(HttpTransport& transport, const ServerAddress& address, ServerKind kind,
                                          const ModelRequest<openai::Message>& request) {
    if (kind != ServerKind::llama_server && kind != ServerKind::vllm) return std::nullopt;
    OpenAIModelConfig config{.model = address.model};
    config.dialect = *openai::find_dialect(kind == ServerKind::vllm ? "vllm" : "llama_cpp");
    return count_body(transport, address, kind, openai::chat_body(request, config, /*is_stream=*/false));
}

std::shared_ptr<const TokenCounter> server_counter(std::shared_ptr<HttpTransport> transport, ServerAddress address,
                                                   ServerKind kind, EventSink on_event) {
    if (transport == nullptr) throw Error(Errc::invalid_argument, "count by a server: there is no transport");
    if (kind != ServerKind::llama_server && kind != ServerKind::vllm)
        throw Error(Errc::invalid_argument,
                    fmt::format("count by a server: \"{}\" counts for nobody", to_string(kind)));
    return std::make_shared<ServerCounter>(std::move(transport), std::move(address), kind, std::move(on_event));
}

}  // namespace whittle::inline v0
