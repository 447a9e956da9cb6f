#pragma once

#include "chain_replay.hpp"
#include "commands.hpp"
#include "cost_basis.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace whittle::cli {

/// A configuration's chains, one for each cache that sessions are paid by: where neither the command line nor the file
/// says which cache the provider has, each session's own bill does.
class ChainsByCache {
public:
    /// `prepare`: changes the settings of each chain before it is made, such as its store. Throws what `load_settings`
    /// and `tool_models` throw.
    ChainsByCache(ConfigChoice config, std::function<ChainSettings(ChainSettings)> prepare, bool allow_remote);

    /// The chain of a session, which is paid by the chain's cache from now on if one was chosen.
    [[nodiscard]] WatchedChains& for_session(CostBasis& basis);
    /// The chain as it is configured.
    [[nodiscard]] WatchedChains& configured() const noexcept { return *configured_; }

private:
    [[nodiscard]] std::unique_ptr<WatchedChains> make(const ConfigChoice& config) const;

    ConfigChoice config_;
    std::function<ChainSettings(ChainSettings)> prepare_;
    bool allow_remote_;
    std::unique_ptr<WatchedChains> configured_;
    bool is_chosen_;  // the cache
    std::map<std::string, std::unique_ptr<WatchedChains>> others_{};
};

}  // namespace whittle::cli
