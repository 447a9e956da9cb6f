#include "chains_by_cache.hpp"

#include <utility>

namespace whittle::cli {

ChainsByCache::ChainsByCache(ConfigChoice config, std::function<ChainSettings(ChainSettings)> prepare,
                             bool allow_remote)
    : config_(std::move(config)),
      prepare_(std::move(prepare)),
      allow_remote_(allow_remote),
      configured_(make(config_)),
      is_chosen_(names_cache(config_)) {}

std::unique_ptr<WatchedChains> ChainsByCache::make(const ConfigChoice& config) const {
    return std::make_unique<WatchedChains>(prepare_(load_settings(config)), allow_remote_);
}

WatchedChains& ChainsByCache::for_session(CostBasis& basis) {
    if (is_chosen_) {
        basis.profile = cost_profile_of(configured_->config().profile);
        basis.source = CacheSource::choice;
        return *configured_;
    }
    const std::string& cache = basis.profile.cache.name;
    if (configured_->config().profile.cache.name == cache) return *configured_;
    std::unique_ptr<WatchedChains>& chains = others_[cache];
    if (!chains) {
        ConfigChoice config = config_;
        config.cache = cache;
        chains = make(config);
    }
    return *chains;
}

}  // namespace whittle::cli
