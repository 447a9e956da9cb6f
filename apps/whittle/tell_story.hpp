#pragma once

#include "chain_replay.hpp"
#include "memory_store.hpp"
#include "story_teller.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace whittle::cli {

struct StoryOptions {
    std::size_t text_bytes = 0;  ///< that the texts may take in the report's data
    bool is_masked = true;       ///< without what looks like a secret
};

/// A configuration for chains whose stories are told: they say why, and leave nothing behind.
[[nodiscard]] inline ChainSettings for_story(ChainSettings settings) {
    settings = with_memory_storage(std::move(settings));
    settings.config.explain = true;
    return settings;
}

/// Runs a session through a chain and tells its story. Throws what `replay` throws.
template <AgentMessage M>
[[nodiscard]] SessionStory tell_story(const Trajectory<M>& trajectory, const WatchedChains& chains,
                                      std::string chain_name, const StoryOptions& story) {
    const Recording<M> recording{trajectory.id, trajectory.system, trajectory.tools, trajectory.messages,
                                 trajectory.seconds};
    StoryTeller<M> teller(recording, chains.of<M>(), std::move(chain_name), story.is_masked);
    ReplayOptions<M> options{.stop = interrupt_token(), .clock = chains.clock()};
    options.on_report = [&](const Report& report) { teller.on_report(report); };
    options.on_request = [&](const ReplayRequest<M>& request) {
        throw_if_interrupted();
        teller.on_request(request);
    };
    (void)replay<M>(recording, chains.of<M>(), options);
    return teller.take(story.text_bytes);
}

}  // namespace whittle::cli
