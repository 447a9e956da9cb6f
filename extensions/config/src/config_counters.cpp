#include "config_rows.hpp"

#include "whittle/base/error.hpp"

namespace whittle::inline v0::detail {

namespace {

/// The counter that the object names, else the first one. Null with a problem.
std::shared_ptr<const CounterRow> choose_counter(ConfigReader& reader, NodeId at) {
    const auto& counters = reader.rows().counters;
    const bool is_object = reader.json()[at].kind == JsonPositions::Kind::object;
    if (is_object && reader.json().member(at, "counter") == JsonPositions::none) return counters.front();
    return choose_row(reader, at, "counter", "counter", counters);
}

}  // namespace

void read_counter(ConfigReader& reader, NodeId at, std::shared_ptr<const TokenCounter>& counter) {
    const auto row = choose_counter(reader, at);
    if (!row) return;
    std::any config = row->defaults();
    StageSettings none;
    const std::size_t before = reader.problem_count();
    read_row(
        reader, at, *row, config, {none.storages, none.models_by_key},
        {.names = {"counter"},
         .read = [](NodeId, std::string_view key) { return key == "counter"; },
         .only_for_type =
             [&](std::string_view key) { return names_of_rows_with(reader.rows().counters, "the counter", key); }});
    if (reader.problem_count() != before) return;
    try {
        auto opened = row->open(config, {.lookup = reader.source().lookup});
        if (!opened) fail_made("counter", row->name, row->name, {});
        counter = std::move(opened);
    } catch (const Error& error) {
        const NodeId name = reader.json().member(at, "counter");
        reader.problem(name == JsonPositions::none ? at : name, error.what());
    }
}

}  // namespace whittle::inline v0::detail
