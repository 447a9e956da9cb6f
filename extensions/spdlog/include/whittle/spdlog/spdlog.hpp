#pragma once

#include "whittle/base/event.hpp"
#include "whittle/conversation/report.hpp"

#include <spdlog/logger.h>

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace whittle::inline v0 {

/// The level of spdlog that means the same.
[[nodiscard]] inline spdlog::level::level_enum to_spdlog_level(Event::Level level) noexcept {
    switch (level) {
        case Event::Level::debug: return spdlog::level::debug;
        case Event::Level::info: return spdlog::level::info;
        case Event::Level::warning: return spdlog::level::warn;
        case Event::Level::error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

/// A sink that writes every event as one line "[conversation] source kind: text". Events hold no message content, nor
/// does the log. The logger is shared; use one with thread-safe sinks ("_mt") where tools run in parallel.
[[nodiscard]] inline EventSink events_to_spdlog(std::shared_ptr<spdlog::logger> logger) {
    return [logger = std::move(logger)](const Event& event) {
        const std::string_view id = event.conversation.empty() ? std::string_view("-") : event.conversation;
        logger->log(to_spdlog_level(event.level), "[{}] {} {}: {}", id, event.source, event.kind, event.text);
    };
}

/// For `ChainCallbacks::on_report`: one line of level debug per hook that changed the conversation.
[[nodiscard]] inline std::function<void(const Report&)> reports_to_spdlog(std::shared_ptr<spdlog::logger> logger) {
    return [logger = std::move(logger)](const Report& report) {
        if (!report.changed()) return;
        logger->debug("{}: {} -> {} tokens in {} ms", to_string(report.hook), report.tokens_before, report.tokens_after,
                      report.milliseconds);
    };
}

}  // namespace whittle::inline v0
