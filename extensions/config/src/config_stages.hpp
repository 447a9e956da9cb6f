#pragma once

#include "config_rows.hpp"

#include "whittle/preset/presets.hpp"

#include <any>
#include <memory>
#include <string>
#include <vector>

namespace whittle::inline v0::detail {

/// A middleware of a configuration: an entry of it, or a preset's.
struct StageNode {
    NodeId at = JsonPositions::none;  ///< the entry, or the key that names the preset
    std::shared_ptr<const MiddlewareRow> row{};
    StageSettings settings{};
    bool is_preset = false;   ///< and no entry has changed it
    bool has_preset = false;  ///< what an entry does not give is a preset's
};

/// Entries with the name of a preset's stage change that; any other is added.
void read_stages(ConfigReader& reader, NodeId at, std::vector<StageNode>& stages);
/// The stages of a preset. `model`: the name of who writes summaries; empty: there are none.
[[nodiscard]] std::vector<StageNode> stages_of(PresetConfig preset, NodeId at, const std::string& model);
/// The settings as the middleware will have them once its storages are open: nothing is opened for a check.
[[nodiscard]] std::any with_closed_storages(const StageNode& stage);
/// What an entry would have to say for these settings, as a JSON object: what differs from the defaults.
[[nodiscard]] std::string changed_settings(const StageNode& stage);
void add_stage_keys(std::vector<ConfigKey>& keys, const ConfigRows& rows);

inline constexpr std::string_view stage_name_meaning = "in reports and notes; two middlewares need distinct names";

}  // namespace whittle::inline v0::detail
