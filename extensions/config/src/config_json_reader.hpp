#pragma once

#include "config_json_schema.hpp"
#include "json_positions.hpp"
#include "whittle/config/config_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

using NodeId = JsonPositions::NodeId;

/// Reads values out of a JSON text and collects what is wrong, each with its place. A value that is wrong leaves its
/// target as it was.
class ConfigReader {
public:
    /// With `notes` nothing is read: they get what is asked of each value.
    ConfigReader(const JsonPositions& json, const ConfigSource& source, SchemaNotes* notes = nullptr)
        : json_(json), source_(source), notes_(notes) {}

    [[nodiscard]] const JsonPositions& json() const noexcept { return json_; }
    [[nodiscard]] const ConfigSource& source() const noexcept { return source_; }
    [[nodiscard]] SchemaNotes* notes() const noexcept { return notes_; }

    /// "{place}: {path}: {text}". At most 100 are kept.
    void problem(NodeId at, const std::string& path, std::string_view text);
    void problem(NodeId at, std::string_view text);
    /// The object `at` has no member `key`.
    void missing(NodeId at, std::string_view key, std::string_view expected);
    /// "found {raw value}, expected {expected}"
    void unexpected(NodeId at, std::string_view expected);
    void warning(NodeId at, const std::string& path, std::string_view text);

    /// An unknown word: what is allowed, and the most similar of it.
    void unknown(NodeId at, std::string_view what, std::string_view word, std::span<const std::string_view> allowed);

    [[nodiscard]] bool has_problem_at(const std::string& path) const { return at_fault_.contains(path); }
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::move(warnings_); }
    void throw_if_problems() const;

    // Each is false, with a problem, if the value is of another type.
    bool read_flag(NodeId at, bool& value);
    bool read_integer(NodeId at, std::int64_t lowest, std::int64_t highest, std::int64_t& value);
    bool read_real(NodeId at, double lowest, double highest, double& value);
    bool read_text(NodeId at, std::string& value);
    bool read_texts(NodeId at, std::vector<std::string>& values);
    /// The index of the word in `words`.
    std::optional<std::size_t> read_word(NodeId at, std::string_view what, std::span<const std::string_view> words);
    /// Whether it is an object whose member names are all different; each duplicate is a problem.
    bool check_object(NodeId at);
    bool check_array(NodeId at, std::string_view expected);

    [[nodiscard]] std::string found(NodeId at) const;

private:
    [[nodiscard]] std::string line(NodeId at, const std::string& path, std::string_view text) const;

    const JsonPositions& json_;
    const ConfigSource& source_;
    SchemaNotes* notes_;
    std::vector<std::string> problems_{};
    std::vector<std::string> warnings_{};
    std::set<std::string> at_fault_{};
    std::size_t left_out_ = 0;
};

/// The default of a key as the documentation writes it: printed from a T{}, or a text where there is nothing to print.
template <typename T>
class Fallback {
public:
    using Print = std::string (*)(const T&);

    constexpr Fallback(const char* text) noexcept : text_(text) {}
    constexpr Fallback(Print print) noexcept : print_(print) {}
    /// `text` stands for an empty default.
    constexpr Fallback(const char* text, Print print) noexcept : text_(text), print_(print) {}

    [[nodiscard]] std::string text() const {
        std::string printed = text_of(T{});
        return printed.empty() ? std::string(text_) : printed;
    }
    /// The value that `object` has, written the same way; empty: there is nothing to print.
    [[nodiscard]] std::string text_of(const T& object) const {
        return print_ == nullptr ? std::string() : print_(object);
    }

private:
    std::string_view text_{};
    Print print_ = nullptr;
};

/// One key of an object that fills a T, with its documentation.
template <typename T>
struct Field {
    std::string_view name;
    std::string_view type;
    Fallback<T> fallback;
    std::string_view meaning;
    void (*read)(ConfigReader&, NodeId, T&);
    /// Of an object: the keys that differ from the default, as JSON; empty: none does.
    std::string (*changed)(const T&) = nullptr;
};

constexpr std::string_view name_meaning = "in reports and notes; two middlewares need distinct names";

/// What a value may be, and what it is, as the documentation writes them. An empty text is "".
[[nodiscard]] std::string_view type_text(const ConfigValue& value) noexcept;
[[nodiscard]] std::string default_text(const ConfigValue& value);

template <typename T>
[[nodiscard]] std::vector<std::string_view> names_of(std::span<const Field<T>> fields) {
    std::vector<std::string_view> names;
    for (const Field<T>& field : fields) names.push_back(field.name);
    return names;
}

/// The schema of the object that `fields` read, for the reader's notes.
template <typename T>
void note_object(const ConfigReader& reader, NodeId at, const T& target, std::span<const Field<T>> fields) {
    ObjectSchema object(reader.source());
    for (const Field<T>& field : fields) {
        object.add({field.name, field.type, field.fallback.text(), field.meaning},
                   [&](ConfigReader& asked, NodeId value) {
                       T copy = target;
                       field.read(asked, value, copy);
                   });
    }
    reader.notes()->add(at, object.text());
}

/// Reads every member of the object `at`. A member that no field names is a problem.
template <typename T>
void read_object(ConfigReader& reader, NodeId at, T& target, std::span<const Field<T>> fields) {
    if (reader.notes() != nullptr) {
        if (reader.json()[at].kind == JsonPositions::Kind::object) note_object(reader, at, target, fields);
        return;
    }
    if (!reader.check_object(at)) return;
    const JsonPositions& json = reader.json();
    std::set<std::string> seen;
    for (NodeId child = json[at].first_child; child != JsonPositions::none; child = json[child].next) {
        const std::string key = json.key(child);
        if (!seen.insert(key).second) continue;
        bool known = false;
        for (const Field<T>& field : fields) {
            if (field.name != key) continue;
            field.read(reader, child, target);
            known = true;
        }
        if (!known) reader.unknown(child, "key", key, names_of(fields));
    }
}

/// `text` as a string of JSON.
[[nodiscard]] std::string json_string(std::string_view text);

/// The value of a key where it differs from the default, as JSON; empty: it does not.
template <typename T>
[[nodiscard]] std::string changed_value(const T& object, const Field<T>& field) {
    if (field.changed != nullptr) return field.changed(object);
    const std::string text = field.fallback.text_of(object);
    if (text == field.fallback.text_of(T{})) return {};
    return field.type == "string" ? json_string(text) : text;
}

/// An object of the keys that differ from the default; empty: none does.
template <typename T>
[[nodiscard]] std::string changed_object(const T& object, std::span<const Field<T>> fields) {
    std::string text;
    for (const Field<T>& field : fields) {
        const std::string value = changed_value(object, field);
        if (!value.empty()) text += (text.empty() ? "{" : ", ") + json_string(field.name) + ": " + value;
    }
    return text.empty() ? text : text + "}";
}

/// An object with any member names: calls `read(child, name)` for each.
template <typename Read>
void read_map(ConfigReader& reader, NodeId at, Read&& read) {
    const JsonPositions& json = reader.json();
    if (reader.notes() != nullptr) {
        const NodeId child = json[at].kind == JsonPositions::Kind::object ? json[at].first_child : JsonPositions::none;
        if (child == JsonPositions::none) return;
        read(child, json.key(child));
        return reader.notes()->map(at, child);
    }
    if (!reader.check_object(at)) return;
    std::set<std::string> seen;
    for (NodeId child = json[at].first_child; child != JsonPositions::none; child = json[child].next) {
        std::string key = json.key(child);
        if (seen.insert(key).second) read(child, std::move(key));
    }
}

// What the tables of fields print of a T{}.

template <typename Value>
[[nodiscard]] std::string shown_value(Value value) {
    return default_text(&value);
}
template <typename Value>
[[nodiscard]] std::string shown_value(const std::optional<Value>& value) {
    return value ? shown_value(*value) : std::string();
}

template <auto Member, typename T>
[[nodiscard]] std::string shown(const T& object) {
    return shown_value(object.*Member);
}

/// The word that stands for `value`: `words` are in the order of `values`.
template <typename Value, std::size_t N>
[[nodiscard]] std::string word_of(Value value, const std::array<Value, N>& values,
                                  const std::array<std::string_view, N>& words) {
    const auto found = std::ranges::find(values, value);
    return found == values.end() ? std::string() : std::string(words[static_cast<std::size_t>(found - values.begin())]);
}

// Readers for the tables of fields.

/// Of a member that is read elsewhere.
template <typename T>
void skip(ConfigReader&, NodeId, T&) {}

template <typename T>
struct MemberOf;
template <typename C, typename V>
struct MemberOf<V C::*> {
    using Value = V;
};
template <auto Member>
using ValueOf = typename MemberOf<decltype(Member)>::Value;

/// Flags (optional or not), texts and lists of texts.
template <auto Member, typename T>
void read_value(ConfigReader& reader, NodeId at, T& target) {
    using Value = ValueOf<Member>;
    if constexpr (std::is_same_v<Value, bool>) {
        reader.read_flag(at, target.*Member);
    } else if constexpr (std::is_same_v<Value, std::optional<bool>>) {
        bool value = false;
        if (reader.read_flag(at, value)) target.*Member = value;
    } else if constexpr (std::is_same_v<Value, std::string>) {
        reader.read_text(at, target.*Member);
    } else {
        reader.read_texts(at, target.*Member);
    }
}

template <auto Member, std::int64_t Lowest, typename T>
void read_integer(ConfigReader& reader, NodeId at, T& target) {
    std::int64_t value = 0;
    using Value = ValueOf<Member>;
    if (reader.read_integer(at, Lowest, std::numeric_limits<Value>::max(), value))
        target.*Member = static_cast<Value>(value);
}

template <auto Member, typename T>
void read_real(ConfigReader& reader, NodeId at, T& target) {
    reader.read_real(at, 0.0, std::numeric_limits<double>::max(), target.*Member);
}

/// A part of a whole.
template <auto Member, typename T>
void read_fraction(ConfigReader& reader, NodeId at, T& target) {
    reader.read_real(at, 0.0, 1.0, target.*Member);
}

// The sections; `config_json_*.cpp` hold their tables.

void read_storage(ConfigReader& reader, NodeId at, StorageSettings& storage);

/// Of a middleware with a storage of its own.
template <typename Draft>
void read_own_storage(ConfigReader& reader, NodeId at, Draft& draft) {
    read_storage(reader, at, draft.own_storage);
}
void read_profile(ConfigReader& reader, NodeId at, ModelProfile& profile);
/// Prices that the profile `profile_at` does not give follow its cache.
void complete_prices(const JsonPositions& json, NodeId profile_at, ModelProfile& profile);
void read_tokens(ConfigReader& reader, NodeId at, std::shared_ptr<const TokenCounter>& counter);
void read_models(ConfigReader& reader, NodeId at, std::vector<ModelSettings>& models);

/// What the check of one middleware can see.
struct StagePlace {
    const ChainInfo& chain;  ///< without names: the chain itself checks these
    const ChainInfo& named;  ///< with them
};

/// What an entry starts from: a preset's settings, else the defaults.
template <typename Draft, typename Config>
[[nodiscard]] Draft draft_of(const StageSettings& stage) {
    Draft draft;
    if (const Config* config = std::get_if<Config>(&stage.config)) static_cast<Config&>(draft) = *config;
    if (!stage.name.empty()) draft.name = stage.name;
    return draft;
}

/// What an entry with a storage of its own comes to.
template <typename Config, typename Draft>
void to_stage(Draft& draft, StageSettings& stage) {
    stage.name = std::move(draft.name);
    stage.backend = std::move(draft.own_storage);
    stage.config = std::move(static_cast<Config&>(draft));
}

/// A type of middleware that a configuration can name. Each module's file has its own.
struct StageType {
    std::string_view name;
    void (*read)(ConfigReader&, NodeId, StageSettings&);
    /// Reports what the middleware would refuse, with an empty name: ".max_tokens_for_clear" is a key of the entry.
    void (*check)(const StageSettings&, const StagePlace&, Problems&);
    void (*add_keys)(std::vector<ConfigKey>&);
    std::string_view task{};  ///< as `Middleware::task`
    /// Of types that presets have: the settings that differ from the defaults, as a JSON object; empty: none does.
    std::string (*changed)(const StageSettings&) = nullptr;
};

/// A middleware of a configuration: an entry of it, or a preset's.
struct StageNode {
    NodeId at = JsonPositions::none;  ///< the entry, or the key that names the preset
    const StageType* type = nullptr;
    StageSettings settings{};
    bool is_preset = false;   ///< and no entry has changed it
    bool has_preset = false;  ///< what an entry does not give is a preset's
};
/// Entries with the name of a preset's stage change that; any other is added.
void read_stages(ConfigReader& reader, NodeId at, std::vector<StageNode>& stages);
/// The stages of a preset. `model`: the name of who writes summaries; empty: there are none.
[[nodiscard]] std::vector<StageNode> stages_of(PresetConfig preset, NodeId at, const std::string& model);
void add_stage_keys(std::vector<ConfigKey>& keys);
void add_registered_keys(std::vector<ConfigKey>& keys, const RegisteredType& type);
[[nodiscard]] bool is_built_in(std::string_view type) noexcept;
/// The schema of an entry of "middlewares" of a built-in type.
[[nodiscard]] std::string schema_of_stages();
[[nodiscard]] bool is_top_level_key(std::string_view name) noexcept;

/// The object inside of another stage: without type, name and storage.
void read_pruning(ConfigReader& reader, NodeId at, PruningConfig& config);

/// What summarization and compaction have in common.
void read_model_options(ConfigReader& reader, NodeId at, GenerateOptions& options);
void read_retry(ConfigReader& reader, NodeId at, RetryConfig& retry);
void read_failover(ConfigReader& reader, NodeId at, FailoverConfig& failover, std::string& model);
void read_summary_role(ConfigReader& reader, NodeId at, SummaryRole& role);
void read_preserve_work(ConfigReader& reader, NodeId at, PreserveWorkConfig& config);
[[nodiscard]] std::string changed_preserve_work(const PreserveWorkConfig& config);
void add_preserve_work_keys(std::vector<ConfigKey>& keys, const std::string& prefix);
[[nodiscard]] std::string shown_summary_role(SummaryRole role);

void add_storage_keys(std::vector<ConfigKey>& keys);
void add_profile_keys(std::vector<ConfigKey>& keys);
void add_tokens_keys(std::vector<ConfigKey>& keys);
void add_models_keys(std::vector<ConfigKey>& keys);

template <typename T>
void add_keys(std::vector<ConfigKey>& keys, const std::string& prefix, std::span<const Field<T>> fields) {
    for (const Field<T>& f : fields) {
        keys.push_back({prefix + std::string(f.name), std::string(f.type), f.fallback.text(), std::string(f.meaning)});
    }
}

}  // namespace whittle::inline v0::detail
