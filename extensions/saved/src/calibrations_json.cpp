// What was learnt of models' counting, as it stands in a side table.
#include "whittle/saved/detail/side_table_json.hpp"

namespace whittle::inline v0::detail {

namespace {

ordered_json json_of_fit(const SavedFit& saved) {
    ordered_json json{{"counter", json_of_bytes(saved.counter)},
                      {"model", json_of_bytes(saved.model)},
                      {"reported", saved.fit.reported},
                      {"counted", saved.fit.counted},
                      {"first_ratio", saved.fit.first_ratio},
                      {"first_weight", saved.fit.first_weight},
                      {"grown_reported", saved.fit.grown_reported},
                      {"grown_counted", saved.fit.grown_counted},
                      {"own_weight", saved.fit.own_weight},
                      {"spread", saved.fit.spread}};
    if (!saved.has_overhead) json["without_overhead"] = true;
    return json;
}

SavedFit fit_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    SavedFit saved{.counter = reader.bytes("counter"),
                   .model = reader.bytes("model"),
                   .has_overhead = !reader.flag("without_overhead"),
                   .fit = {.reported = reader.integer("reported", 0, INT64_MAX),
                           .counted = reader.integer("counted", 0, INT64_MAX),
                           .first_ratio = reader.real("first_ratio"),
                           .first_weight = reader.real("first_weight"),
                           .grown_reported = reader.real("grown_reported"),
                           .grown_counted = reader.real("grown_counted"),
                           .own_weight = reader.real("own_weight"),
                           .spread = reader.real("spread")}};
    reader.done();
    return saved;
}

}  // namespace

ordered_json json_of_calibrations(const Calibrations& calibrations) {
    ordered_json json{{"model", json_of_bytes(calibrations.model)}};
    for (const SavedFit& saved : calibrations.fits) json["fits"].push_back(json_of_fit(saved));
    return json;
}

Calibrations calibrations_of(const ordered_json& json, const std::string& where) {
    ObjectReader reader(json, where);
    Calibrations calibrations{.model = reader.bytes("model"), .fits = {}};
    read_array(reader.find("fits"), reader.place("fits"), [&](const ordered_json& element, const std::string& place) {
        calibrations.fits.push_back(fit_of(element, place));
    });
    reader.done();
    return calibrations;
}

}  // namespace whittle::inline v0::detail
