// The "condensing" stage of a configuration file.
#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/config/config_json.hpp"

#include <string>
#include <vector>

using namespace whittle;

namespace {

ConfigTypes with_condensing() {
    ConfigTypes types;
    types.register_middleware<ChatMessage>(condensing_type(), make_condensing);
    return types;
}

ChainSettings condensing_stage(const std::string& members) {
    return read_chain_settings(R"({"middlewares": [{"type": "condensing")" + members + "}]}",
                               {.name = "c", .types = with_condensing()});
}

}  // namespace

TEST_CASE("every setting of condensing can be read", "[config_json]") {
    const ChainSettings settings = condensing_stage(R"(, "name": "n", "storage": {"type": "memory"},
        "min_bytes": 1, "min_gain": 0.5, "max_buffered_bytes": 2, "condense_file_reads": true, "exclude_tools": ["recall"],
        "condense_json": false, "condense_logs": false, "condense_diffs": false, "condense_html": false,
        "condense_tables": false, "max_lossless_json_bytes": 3, "cut_above_rows": 100, "head_rows": 4, "tail_rows": 5,
        "max_outliers": 6, "max_string_bytes": 80,
        "distil_min_bytes": 11, "distil_max_input_bytes": 1000, "max_condensed_bytes": 500)");
    const auto& config = std::any_cast<const CondensingConfig&>(settings.stages.at(0).config);
    CHECK(settings.stages[0].name == "n");
    CHECK(settings.stages[0].storages.at("storage").type == "memory");
    CHECK(config.min_bytes == 1);
    CHECK(config.min_gain == 0.5);
    CHECK(config.max_buffered_bytes == 2);
    CHECK(config.condense_file_reads);
    CHECK(config.exclude_tools == std::vector<std::string>{"recall"});
    CHECK_FALSE(config.condense_json);
    CHECK_FALSE(config.condense_logs);
    CHECK_FALSE(config.condense_diffs);
    CHECK_FALSE(config.condense_html);
    CHECK_FALSE(config.condense_tables);
    CHECK(config.max_lossless_json_bytes == 3);
    CHECK(config.cut_above_rows == 100);
    CHECK(config.head_rows == 4);
    CHECK(config.tail_rows == 5);
    CHECK(config.max_outliers == 6);
    CHECK(config.max_string_bytes == 80);
    CHECK(config.distil_min_bytes == 11);
    CHECK(config.max_condensed_bytes == 500);
    CHECK(config.distil_max_input_bytes == 1'000);
    CHECK(make_chain<ChatMessage>(condensing_stage("")).stages().size() == 1);
}

TEST_CASE("problems of condensing have the place of their key", "[config_json]") {
    try {
        static_cast<void>(condensing_stage(",\n \"cut_above_rows\": 10, \"head_row\": 3"));
        FAIL("nothing was thrown");
    } catch (const Error& error) {
        const std::string text = error.what();
        CHECK(text.find("c:2:2: middlewares[0].cut_above_rows: found 10") != std::string::npos);
        CHECK(text.find("unknown key \"head_row\"; did you mean \"head_rows\"?") != std::string::npos);
    }
}

TEST_CASE("condensing asks a named model for extracts", "[config_json]") {
    const auto settings = [](const std::string& model) {
        return read_chain_settings(R"({"models": {"small": {"type": "scripted", "replies": ["x"]}},
            "middlewares": [{"type": "condensing", "model": ")" +
                                       model + "\"}]}",
                                   {.types = with_condensing()});
    };
    CHECK(settings("small").stages.at(0).models_by_key.at("model") == "small");
    CHECK(make_chain<ChatMessage>(settings("small")).stages().size() == 1);
    CHECK_THROWS_AS(settings("large"), Error);
}

TEST_CASE("the page of condensing has the row of every key", "[config_json]") {
    CHECK(testing::undocumented_keys(with_condensing(), "extensions/condensing/README.md") == "");
}
