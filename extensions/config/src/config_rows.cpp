#include "config_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

namespace whittle::inline v0::detail {

namespace {

/// What `after_fields_read` sees of an object.
class EntryOf final : public ConfigEntry {
public:
    EntryOf(ConfigReader& reader, NodeId at, const FieldRefs& refs) : reader_(reader), at_(at), refs_(refs) {}

    [[nodiscard]] bool gives(std::string_view key) const override { return member(key) != JsonPositions::none; }
    [[nodiscard]] std::string_view model(std::string_view key) const override {
        const auto found = refs_.models.find(key);
        return found == refs_.models.end() ? std::string_view() : std::string_view(found->second);
    }
    [[nodiscard]] const EnvironmentLookup& lookup() const override { return reader_.source().lookup; }
    [[nodiscard]] std::string resolved(const std::string& path) const override {
        const std::string& base = reader_.source().base_dir;
        if (path.empty() || base.empty() || std::filesystem::path(path).is_absolute()) return path;
        return (std::filesystem::path(base) / path).lexically_normal().string();
    }

    void missing(std::string_view key, std::string_view expected) override { reader_.missing(at_, key, expected); }
    void unexpected(std::string_view key, std::string_view expected) override {
        if (!gives(key)) return add_problem(key, fmt::format("found its default, expected {}", expected));
        add_problem(key, fmt::format("found {}, expected {}", reader_.found(member(key)), expected));
    }
    void problem(std::string_view key, std::string_view text) override { add_problem(key, text); }
    void unexpected_variable(std::string_view name, std::string_view value, std::string_view expected) override {
        reader_.problem(at_, fmt::format("environment variable {}: found \"{}\", expected {}", name, value, expected));
    }
    void take_model_from_environment(std::string_view key, std::string_view variable) override {
        const std::optional<std::string> name = lookup() ? lookup()(variable) : std::nullopt;
        if (!name || name->empty()) return;
        const NodeId models = reader_.json().member(JsonPositions::root, "models");
        const bool is_listed =
            models != JsonPositions::none && reader_.json().member(models, *name) != JsonPositions::none;
        const auto& host_makes_model = reader_.source().host_makes_model;
        if (is_listed || (host_makes_model && host_makes_model(*name))) {
            refs_.models.insert_or_assign(std::string(key), *name);
        } else {
            unexpected_variable(variable, *name,
                                host_makes_model ? "a name of `models`, or one that the program's maker of models knows"
                                                 : "a name of `models`");
        }
    }

private:
    [[nodiscard]] NodeId member(std::string_view key) const { return reader_.json().member(at_, key); }
    /// Where the key stands, or else at the object. A value that was found to be wrong is not told twice.
    void add_problem(std::string_view key, std::string_view text) {
        const std::string object = reader_.json().path(at_);
        const std::string path = fmt::format("{}{}{}", object, object.empty() ? "" : ".", key);
        if (!reader_.has_problem_at(path)) reader_.problem(gives(key) ? member(key) : at_, path, text);
    }

    ConfigReader& reader_;
    NodeId at_;
    const FieldRefs& refs_;
};

}  // namespace

std::string one_of(const std::vector<std::string_view>& names) {
    return fmt::format("\"{}\"", fmt::join(names, "\" or \""));
}

std::optional<std::size_t> read_choice(ConfigReader& reader, NodeId at, std::string_view key, std::string_view what,
                                       const std::vector<std::string_view>& names) {
    if (reader.json()[at].kind != JsonPositions::Kind::object) {
        reader.unexpected(at, "an object");
        return std::nullopt;
    }
    const NodeId choice = reader.json().member(at, key);
    if (choice == JsonPositions::none) {
        reader.missing(at, key, one_of(names));
        return std::nullopt;
    }
    const auto index = reader.read_word(choice, what, names);
    if (!index) (void)reader.check_object(at);  // its keys are those of a type: only twins can be told
    return index;
}

void read_row(ConfigReader& reader, NodeId at, const Row& row, std::any& config, const FieldRefs& refs,
              const OtherKeys& others) {
    const BoundFields fields = row.bind(config);
    reader.read_members(at, [&](NodeId child, const std::string& key) {
        if (others.read(child, key)) return;
        if (const BoundField* field = find_field(fields, key)) return read_field(reader, child, *field, refs);
        const std::string elsewhere = others.only_for_type ? others.only_for_type(key) : std::string();
        if (!elsewhere.empty()) return reader.problem(child, elsewhere);
        std::vector<std::string_view> names = others.names;
        for (const BoundField& field : fields.all) names.push_back(field.info->name);
        reader.unknown(child, "key", key, names);
    });
    check_required(reader, at, fields);
    EntryOf entry(reader, at, refs);
    row.after_fields_read(config, entry);
}

}  // namespace whittle::inline v0::detail
