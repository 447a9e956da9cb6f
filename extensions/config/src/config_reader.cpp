#include "config_reader.hpp"

#include "whittle/base/detail/json.hpp"

#include "whittle/base/text.hpp"
#include "whittle/provider/detail/json_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace whittle::inline v0::detail {

namespace {

constexpr std::size_t max_problems = 100;
constexpr std::size_t longest_word = 64;  // that a suggestion is looked for

std::string_view suggestion_for(std::string_view word, std::span<const std::string_view> allowed) {
    if (word.empty() || word.size() > longest_word) return {};
    const std::string lower = ascii_lower(word);
    if (const std::string_view best = closest_match(lower, allowed); !best.empty()) return best;
    for (const std::string_view candidate : allowed) {
        if (lower.size() >= 4 && candidate.starts_with(lower)) return candidate;
    }
    return {};
}

}  // namespace

std::string allowed_integers(std::int64_t lowest, std::int64_t highest) {
    if (highest == INT64_MAX) return fmt::format("an integer, {} or more", lowest);
    return fmt::format("an integer from {} to {}", lowest, highest);
}

std::string allowed_reals(double lowest, double highest) {
    if (highest == std::numeric_limits<double>::max()) return fmt::format("a number, {} or more", lowest);
    return fmt::format("a number from {} to {}", lowest, highest);
}

std::string json_string(std::string_view text) {
    std::string literal;
    append_json_literal(literal, text);
    return literal;
}

std::string ConfigReader::line(NodeId at, const std::string& path, std::string_view text) const {
    const TextPlace place = json_.place_of_key(at);
    return fmt::format("{}:{}:{}: {}{}{}", source_.name, place.line, place.column, path, path.empty() ? "" : ": ",
                       text);
}

void ConfigReader::problem(NodeId at, const std::string& path, std::string_view text) {
    at_fault_.insert(path);
    if (problems_.size() == max_problems) {
        ++left_out_;
        return;
    }
    problems_.push_back(line(at, path, text));
}

void ConfigReader::problem(NodeId at, std::string_view text) {
    if (problems_.size() == max_problems) {
        ++left_out_;
    } else {
        problem(at, json_.path(at), text);
    }
}

void ConfigReader::missing(NodeId at, std::string_view key, std::string_view expected) {
    const std::string path = json_.path(at);
    problem(at, fmt::format("{}{}{}", path, path.empty() ? "" : ".", key),
            fmt::format("missing, expected {}", expected));
}

void ConfigReader::warning(NodeId at, const std::string& path, std::string_view text) {
    if (warnings_.size() < max_problems) warnings_.push_back(line(at, path, text));
}

void ConfigReader::unexpected(NodeId at, std::string_view expected) {
    problem(at, fmt::format("found {}, expected {}", found(at), expected));
}

void ConfigReader::unknown(NodeId at, std::string_view what, std::string_view word,
                           std::span<const std::string_view> allowed) {
    const std::string_view suggestion = suggestion_for(word, allowed);
    const std::string hint = suggestion.empty() ? std::string() : fmt::format("did you mean \"{}\"? ", suggestion);
    problem(at, fmt::format("unknown {} \"{}\"; {}allowed: {}", what, clip_for_error(word), hint,
                            fmt::join(allowed, ", ")));
}

void ConfigReader::throw_if_problems() const {
    if (problems_.empty()) return;
    std::string text =
        fmt::format("read configuration: {}", problems_.size() + left_out_ == 1
                                                  ? std::string("1 problem")
                                                  : fmt::format("{} problems", problems_.size() + left_out_));
    for (const std::string& problem : problems_) text += "\n" + problem;
    if (left_out_ > 0) text += fmt::format("\nand {} more", left_out_);
    throw Error(Errc::invalid_config, text);
}

std::string ConfigReader::found(NodeId at) const {
    switch (json_[at].kind) {
        case JsonPositions::Kind::object: return "an object";
        case JsonPositions::Kind::array: return "an array";
        default: return clip_for_error(json_.raw(at));
    }
}

bool ConfigReader::read_flag(NodeId at, bool& value) {
    const std::string_view raw = json_.raw(at);
    if (raw != "true" && raw != "false") {
        unexpected(at, "true or false");
        return false;
    }
    value = raw == "true";
    return true;
}

bool ConfigReader::read_integer(NodeId at, std::int64_t lowest, std::int64_t highest, std::int64_t& value) {
    const std::string_view raw = json_.raw(at);
    std::int64_t read = 0;
    const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), read);
    const bool is_whole = error == std::errc() && end == raw.data() + raw.size();
    if (json_[at].kind != JsonPositions::Kind::number || !is_whole || read < lowest || read > highest) {
        unexpected(at, allowed_integers(lowest, highest));
        return false;
    }
    value = read;
    return true;
}

bool ConfigReader::read_real(NodeId at, double lowest, double highest, double& value) {
    const std::string_view raw = json_.raw(at);
    const bool is_number = json_[at].kind == JsonPositions::Kind::number;
    // Not std::from_chars, which libc++ before 20 has for whole numbers alone.
    const auto parsed = nlohmann::ordered_json::parse(is_number ? raw : "null", nullptr, false);
    const double read = parsed.is_number() ? parsed.get<double>() : 0.0;
    if (!parsed.is_number() || !std::isfinite(read) || read < lowest || read > highest) {
        unexpected(at, allowed_reals(lowest, highest));
        return false;
    }
    value = read;
    return true;
}

bool ConfigReader::read_text(NodeId at, std::string& value) {
    if (json_[at].kind != JsonPositions::Kind::string) {
        unexpected(at, "a string");
        return false;
    }
    value = json_.text(at);
    return true;
}

bool ConfigReader::read_texts(NodeId at, std::vector<std::string>& values) {
    if (!check_array(at, "an array of strings")) return false;
    std::vector<std::string> read;
    bool is_good = true;
    for (NodeId child = json_[at].first_child; child != JsonPositions::none; child = json_[child].next) {
        is_good = read_text(child, read.emplace_back()) && is_good;
    }
    if (is_good) values = std::move(read);
    return is_good;
}

std::optional<std::size_t> ConfigReader::read_word(NodeId at, std::string_view what,
                                                   std::span<const std::string_view> words) {
    if (json_[at].kind != JsonPositions::Kind::string) {
        unexpected(at, fmt::format("one of \"{}\"", fmt::join(words, "\", \"")));
        return std::nullopt;
    }
    const std::string word = json_.text(at);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == word) return i;
    }
    unknown(at, what, word, words);
    return std::nullopt;
}

bool ConfigReader::check_object(NodeId at) {
    if (json_[at].kind != JsonPositions::Kind::object) {
        unexpected(at, "an object");
        return false;
    }
    std::set<std::string> seen;
    for (NodeId child = json_[at].first_child; child != JsonPositions::none; child = json_[child].next) {
        if (!seen.insert(json_.key(child)).second)
            problem(child, "duplicate key: it stands here for the second time or more");
    }
    return true;
}

bool ConfigReader::check_array(NodeId at, std::string_view expected) {
    if (json_[at].kind == JsonPositions::Kind::array) return true;
    unexpected(at, expected);
    return false;
}

void ConfigReader::read_members(NodeId at, const std::function<void(NodeId, const std::string& key)>& read) {
    if (!check_object(at)) return;
    std::set<std::string> seen;
    for (NodeId child = json_[at].first_child; child != JsonPositions::none; child = json_[child].next) {
        const std::string key = json_.key(child);
        if (seen.insert(key).second) read(child, key);
    }
}

}  // namespace whittle::inline v0::detail
