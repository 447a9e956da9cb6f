#include "config_json_reader.hpp"

#include "whittle/tiktoken/vocabulary.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>

namespace whittle::inline v0::detail {

namespace {

struct TokensDraft : CharsOptions {
    std::size_t counter = 0;
    NodeId counter_at{};
    std::string vocabularies{};
    std::optional<NodeId> vocabularies_at{};
    std::vector<NodeId> chars_only{};
};

enum Counter : std::size_t { counter_chars, counter_pessimistic, counter_estimate };
constexpr std::array<std::string_view, 7> counter_names{"chars",       "pessimistic", "estimate", "o200k_base",
                                                        "cl100k_base", "p50k_base",   "r50k_base"};

void read_counter(ConfigReader& reader, NodeId at, TokensDraft& tokens) {
    const auto found = reader.read_word(at, "counter", counter_names);
    if (!found) return;
    tokens.counter = *found;
    tokens.counter_at = at;
}

void read_vocabularies(ConfigReader& reader, NodeId at, TokensDraft& tokens) {
    tokens.vocabularies_at = at;
    if (!reader.read_text(at, tokens.vocabularies)) return;
    if (tokens.vocabularies.empty() || tokens.vocabularies.find('\0') != std::string::npos)
        reader.unexpected(at, "the path of a directory");
}

void read_chars_per_token(ConfigReader& reader, NodeId at, TokensDraft& tokens) {
    reader.read_real(at, 0.001, 1e6, tokens.chars_per_token);
    tokens.chars_only.push_back(at);
}

void read_round_up(ConfigReader& reader, NodeId at, TokensDraft& tokens) {
    reader.read_flag(at, tokens.round_up);
    tokens.chars_only.push_back(at);
}

void read_tokens_per_image(ConfigReader& reader, NodeId at, TokensDraft& tokens) {
    read_integer<&CharsOptions::tokens_per_image, 0>(reader, at, tokens);
    tokens.chars_only.push_back(at);
}

constexpr std::array<Field<TokensDraft>, 5> tokens_fields{{
    {"counter", "string", +[](const TokensDraft& d) { return std::string(counter_names[d.counter]); },
     "`chars`, `pessimistic`, `estimate`; exact, with a vocabulary that is installed: `o200k_base`, `cl100k_base`, "
     "`p50k_base`, `r50k_base`",
     &read_counter},
    {"vocabularies", "string", "the user's", "with an exact counter: the directory of installed vocabularies",
     &read_vocabularies},
    {"chars_per_token", "number", &shown<&CharsOptions::chars_per_token>,
     "with `chars`: UTF-8 bytes per token, 0.001 to 1000000", &read_chars_per_token},
    {"round_up", "true or false", &shown<&CharsOptions::round_up>,
     "with `chars`: round up instead of down, per message", &read_round_up},
    {"tokens_per_image", "integer", &shown<&CharsOptions::tokens_per_image>, "with `chars`: tokens of each media part",
     &read_tokens_per_image},
}};

std::string folder_of(const ConfigReader& reader, const TokensDraft& draft) {
    if (!draft.vocabularies_at) return vocabulary_folder(reader.source().lookup);
    const std::filesystem::path path(draft.vocabularies);
    if (reader.source().base_dir.empty() || path.is_absolute()) return draft.vocabularies;
    return (std::filesystem::path(reader.source().base_dir) / path).lexically_normal().string();
}

void open_exact(ConfigReader& reader, const TokensDraft& draft, std::shared_ptr<const TokenCounter>& counter) {
    const std::string_view name = counter_names[draft.counter];
    const std::string folder = folder_of(reader, draft);
    if (folder.empty())
        return reader.problem(draft.counter_at, "no directory of vocabularies is known; set tokens.vocabularies");
    try {
        counter = exact(open_encoding(vocabulary_path(folder, name), *find_encoding(name)));
    } catch (const Error& error) {
        reader.problem(draft.counter_at,
                       fmt::format("{}; `whittle vocab install {}` puts it there", error.what(), name));
    }
}

}  // namespace

void read_tokens(ConfigReader& reader, NodeId at, std::shared_ptr<const TokenCounter>& counter) {
    TokensDraft draft;
    read_object<TokensDraft>(reader, at, draft, tokens_fields);
    if (draft.vocabularies_at && draft.counter <= counter_estimate)
        reader.problem(*draft.vocabularies_at, "only for an exact counter");
    if (draft.counter == counter_chars) {
        counter = chars(draft);
        return;
    }
    for (const NodeId node : draft.chars_only) reader.problem(node, "only for the counter \"chars\"");
    if (draft.counter > counter_estimate) return open_exact(reader, draft, counter);
    counter = draft.counter == counter_pessimistic ? pessimistic() : estimate();
}

void add_tokens_keys(std::vector<ConfigKey>& keys) { add_keys<TokensDraft>(keys, "tokens.", tokens_fields); }

}  // namespace whittle::inline v0::detail
