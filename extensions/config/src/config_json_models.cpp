#include "config_json_reader.hpp"
#include "variable_name.hpp"

#include <fmt/format.h>

#include <array>

namespace whittle::inline v0::detail {

namespace {

using Type = ModelSettings::Type;

constexpr std::array<std::string_view, 3> model_types{"scripted", "openai",
                                                      "anthropic"};  // as in Type, which has one that no file has
constexpr std::array error_classes{ModelErrorClass::overflow,  ModelErrorClass::rate_limit,  ModelErrorClass::auth,
                                   ModelErrorClass::server,    ModelErrorClass::bad_request, ModelErrorClass::refusal,
                                   ModelErrorClass::transport, ModelErrorClass::cancelled};

void read_error(ConfigReader& reader, NodeId at, ModelSettings::Reply& reply) {
    std::vector<std::string_view> names;
    for (const ModelErrorClass error : error_classes) names.push_back(name_of(error));
    if (const auto found = reader.read_word(at, "error class", names)) reply.error = error_classes[*found];
}

constexpr std::array<Field<ModelSettings::Reply>, 1> reply_fields{{
    {"error", "string", "none",
     "a reply may be `{\"error\": class}`: overflow, rate_limit, auth, server, bad_request, refusal, transport, "
     "cancelled",
     &read_error},
}};

void read_reply(ConfigReader& reader, NodeId at, ModelSettings::Reply& reply) {
    if (reader.json()[at].kind == JsonPositions::Kind::string) {
        reply.text = reader.json().text(at);
    } else if (reader.json()[at].kind == JsonPositions::Kind::object) {
        read_object<ModelSettings::Reply>(reader, at, reply, reply_fields);
        if (reader.json()[at].first_child == JsonPositions::none) reader.missing(at, "error", "an error class");
    } else {
        reader.unexpected(at, "a string or {\"error\": class}");
    }
}

void read_replies(ConfigReader& reader, NodeId at, ModelSettings& model) {
    constexpr std::string_view expected = "an array of at least one reply";
    if (!reader.check_array(at, expected)) return;
    const JsonPositions& json = reader.json();
    if (json[at].first_child == JsonPositions::none)
        return reader.problem(at, fmt::format("found [], expected {}", expected));
    for (NodeId child = json[at].first_child; child != JsonPositions::none; child = json[child].next) {
        read_reply(reader, child, model.replies.emplace_back());
    }
}

void read_extra(ConfigReader& reader, NodeId at, ModelSettings& model) {
    if (reader.json()[at].kind != JsonPositions::Kind::object) return reader.unexpected(at, "an object");
    model.extra = reader.json().raw(at);
}

/// Somebody who writes the key itself here must not find it in a log.
void read_api_key_env(ConfigReader& reader, NodeId at, ModelSettings& model) {
    if (reader.json()[at].kind == JsonPositions::Kind::string && !is_variable_name(reader.json().text(at)))
        return reader.problem(at,
                              "expected the name of an environment value in capital letters, such as OPENAI_API_KEY");
    reader.read_text(at, model.api_key_env);
}

void read_base_url(ConfigReader& reader, NodeId at, ModelSettings& model) {
    if (!reader.read_text(at, model.base_url)) return;
    if (!model.base_url.starts_with("http://") && !model.base_url.starts_with("https://"))
        reader.unexpected(at, "an address that begins with http:// or https://");
}

constexpr std::array<Field<ModelSettings>, 2> scripted_fields{{
    {"type", "string", "required", "`scripted`, `openai` or `anthropic`", &skip<ModelSettings>},
    {"replies", "array", "required", "what a scripted model answers, in order; the last one repeats", &read_replies},
}};

constexpr std::array<Field<ModelSettings>, 7> http_fields{{
    {"type", "string", "required", "`scripted`, `openai` or `anthropic`", &skip<ModelSettings>},
    {"model", "string", "required", "openai, anthropic: the provider's name of the model",
     &read_value<&ModelSettings::model>},
    {"base_url", "string", "the provider's",
     "openai, anthropic: the address in front of `/chat/completions` or `/v1/messages`", &read_base_url},
    {"api_key_env", "string", "none", "openai, anthropic: the name of the environment value that holds the key",
     &read_api_key_env},
    {"dialect", "string", "openai", "openai: what kind of server it is (extensions/openai/README.md)",
     &read_value<&ModelSettings::dialect>},
    {"max_output_tokens", "integer", "the model's own",
     "openai, anthropic: tokens of a reply, where a call does not say",
     &read_integer<&ModelSettings::max_output_tokens, 1>},
    {"extra", "object", "{}", "openai, anthropic: further fields of every request", &read_extra},
}};

std::optional<Type> read_type(ConfigReader& reader, NodeId at) {
    if (reader.json()[at].kind != JsonPositions::Kind::object) {
        reader.unexpected(at, "an object");
        return std::nullopt;
    }
    const NodeId type = reader.json().member(at, "type");
    if (type == JsonPositions::none) {
        reader.missing(at, "type", R"("scripted", "openai" or "anthropic")");
        return std::nullopt;
    }
    const auto found = reader.read_word(type, "model", model_types);
    return found ? std::optional(static_cast<Type>(*found)) : std::nullopt;
}

void require(ConfigReader& reader, NodeId at, std::string_view key, std::string_view expected) {
    if (reader.json().member(at, key) == JsonPositions::none) reader.missing(at, key, expected);
}

void read_model(ConfigReader& reader, NodeId at, ModelSettings& model) {
    if (model.type == Type::scripted) {
        read_object<ModelSettings>(reader, at, model, scripted_fields);
        return require(reader, at, "replies", "an array of at least one reply");
    }
    read_object<ModelSettings>(reader, at, model, http_fields);
    require(reader, at, "model", "the provider's name of the model");
    const NodeId dialect = reader.json().member(at, "dialect");
    if (dialect != JsonPositions::none && model.type != Type::openai)
        reader.problem(dialect, "only for the type \"openai\"");
}

/// A model's type says what its other keys are.
void note_models(const ConfigReader& reader, NodeId at) {
    std::vector<std::pair<std::string_view, std::string>> schemas;
    for (std::size_t i = 0; i < model_types.size(); ++i) {
        const std::string text = fmt::format("{{\"type\": \"{}\"}}", model_types[i]);
        const JsonPositions json(text);
        SchemaNotes notes;
        ConfigReader asked(json, reader.source(), &notes);
        ModelSettings model{.type = static_cast<Type>(i)};
        read_model(asked, JsonPositions::root, model);
        schemas.emplace_back(model_types[i], notes.schemas_of(JsonPositions::root).front());
    }
    reader.notes()->add(at, fmt::format(R"({{"type":"object","additionalProperties":{}}})", schema_by_type(schemas)));
}

}  // namespace

void read_models(ConfigReader& reader, NodeId at, std::vector<ModelSettings>& models) {
    if (reader.notes() != nullptr) return note_models(reader, at);
    read_map(reader, at, [&](NodeId child, const std::string& name) {
        const auto type = read_type(reader, child);
        if (!type) return;
        ModelSettings& model = models.emplace_back(ModelSettings{.name = name, .type = *type});
        read_model(reader, child, model);
    });
}

void add_models_keys(std::vector<ConfigKey>& keys) {
    add_keys<ModelSettings>(keys, "models.NAME.", scripted_fields);
    add_keys<ModelSettings::Reply>(keys, "models.NAME.replies[].", reply_fields);
    add_keys<ModelSettings>(keys, "models.NAME.", std::span<const Field<ModelSettings>>(http_fields).subspan(1));
}

}  // namespace whittle::inline v0::detail
