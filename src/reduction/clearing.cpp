#include "whittle/reduction/clearing.hpp"
#include "../message/result_parts.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/names.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

std::string_view plain_placeholder(Language language) noexcept {
    return language == Language::chinese ? "[旧的工具结果内容已清除]" : "[Old tool result content cleared]";
}

bool skips_clearing(const ReductionConfig& config, std::string_view tool) {
    const ToolReductionConfig* settings = find_for_tool(config.tool_config, tool);
    return settings != nullptr ? settings->skip_clear.value_or(config.skip_clear) : config.skip_clear;
}

bool clears_inputs(const ReductionConfig& config, std::string_view tool) {
    if (const bool* all = std::get_if<bool>(&config.clear_tool_inputs)) return *all;
    return matches_tool(std::get<std::vector<std::string>>(config.clear_tool_inputs), tool);
}

std::string cleared_arguments(std::string_view location, Language language) {
    const std::string_view note = language == Language::chinese ? "参数已移出" : "argument offloaded";
    nlohmann::ordered_json json{{"note", note}};
    if (!location.empty()) json["reference"] = location;
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string to_key(std::string_view path, std::string_view from) {
    if (path.starts_with('/')) path.remove_prefix(1);
    require_valid_key(from, path);
    return std::string(path);
}

namespace {

/// The results that a message holds, by call.
std::vector<ClearingCandidate> results_in(const MessageInfo& info, std::size_t message) {
    std::vector<ClearingCandidate> results;
    for (std::vector<std::size_t>& parts : detail::result_parts(info)) {
        const PartInfo& first = info.parts[parts.front()];
        results.push_back(
            {.message = message, .parts = std::move(parts), .tool = first.tool.str(), .name = first.object_name.str()});
    }
    return results;
}

class Planner {
public:
    Planner(const Outline& outline, const ReductionConfig& config, std::span<const std::string> protected_tools,
            std::string_view self, const std::function<bool(std::size_t)>& is_pinned)
        : outline_(outline), config_(config), protected_tools_(protected_tools), self_(self), is_pinned_(is_pinned) {}

    [[nodiscard]] std::string_view rule_for(const ClearingCandidate& candidate, bool is_retained) const {
        if (is_retained) return "retained_round";
        if (is_pinned_(candidate.message)) return "pinned";
        if (matches_tool(protected_tools_, candidate.tool)) return "protected_tool";
        if (matches_tool(config_.clear_exclude_tools, candidate.tool)) return "excluded_tool";
        if (skips_clearing(config_, candidate.tool)) return "skip_clear";
        return rule_for_marks(candidate);
    }

    /// The objects that have the original of a result which was shortened when it came in, or which shows one again.
    [[nodiscard]] std::vector<std::vector<std::string>> stored_for(const ClearingCandidate& candidate) const {
        std::vector<std::vector<std::string>> keys;
        const auto is_stored = [&](std::size_t part) {
            const Mark& mark = mark_of(outline_[candidate.message], part);
            return mark && !mark->stored.empty();
        };
        if (std::ranges::none_of(candidate.parts, is_stored)) return keys;
        for (const std::size_t part : candidate.parts) {
            const Mark& mark = mark_of(outline_[candidate.message], part);
            keys.push_back(mark ? mark->stored : std::vector<std::string>());
        }
        return keys;
    }

    void find_call(ClearingCandidate& candidate, std::size_t call) const {
        const auto& parts = outline_[call].parts;
        candidate.call = call;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            if (parts[p].kind == PartKind::tool_call && parts[p].object_name == candidate.name) candidate.call_part = p;
        }
    }

private:
    [[nodiscard]] std::string_view rule_for_marks(const ClearingCandidate& candidate) const {
        for (const std::size_t part : candidate.parts) {
            const Mark& mark = mark_of(outline_[candidate.message], part);
            if (origin_of(mark) == Origin::original) continue;
            if (mark->by != self_) return "other_middleware";
            if (mark->reason == "clear") return "cleared_already";
        }
        return {};
    }

    const Outline& outline_;
    const ReductionConfig& config_;
    std::span<const std::string> protected_tools_;
    std::string_view self_;
    const std::function<bool(std::size_t)>& is_pinned_;
};

}  // namespace

std::vector<ClearingCandidate> plan_clearing(const Outline& outline, const ReductionConfig& config,
                                             std::span<const std::string> protected_tools, std::string_view self,
                                             const std::function<bool(std::size_t)>& is_pinned) {
    const Planner planner(outline, config, protected_tools, self, is_pinned);
    const std::vector<Round> rounds = outline.rounds();
    const auto retained = retained_rounds(config);
    std::vector<ClearingCandidate> candidates;
    for (std::size_t r = 0; r < rounds.size(); ++r) {
        for (const std::size_t message : rounds[r].results) {
            for (ClearingCandidate& candidate : results_in(outline[message], message)) {
                candidate.is_retained = r + retained >= rounds.size();
                candidate.rule = planner.rule_for(candidate, candidate.is_retained);
                planner.find_call(candidate, rounds[r].call);
                candidate.stored = planner.stored_for(candidate);
                candidates.push_back(std::move(candidate));
            }
        }
    }
    return candidates;
}

std::string clearing_placeholder(const ClearedText& text, Language language) {
    const std::string_view tool = text.tool.empty() ? "tool" : text.tool;
    if (language == Language::chinese) {
        const std::string lines = text.lines > 0 ? fmt::format("，{} 行", text.lines) : std::string();
        const std::string reader = text.reader.empty() ? std::string() : fmt::format("，可用 {} 读取", text.reader);
        return fmt::format("[旧的 {} 结果已清除：{} 字节{}。全文：{}{}]", tool, text.bytes, lines, text.location,
                           reader);
    }
    const std::string lines = text.lines > 0 ? fmt::format(", {} lines", text.lines) : std::string();
    const std::string reader = text.reader.empty() ? std::string() : fmt::format(" - read it with {}", text.reader);
    return fmt::format("[Old {} result cleared: {} bytes{}. Full text: {}{}]", tool, text.bytes, lines, text.location,
                       reader);
}

namespace {

bool is_taken(Storage& storage, const std::string& key, std::string_view content, const PlannedKeys& planned) {
    if (const Hash128* const other = planned.find(key)) return *other != hash128(content);
    const auto info = storage.stat(key);
    if (!info) return false;
    return info->bytes != static_cast<std::int64_t>(content.size()) || storage.get(key) != content;
}

}  // namespace

std::string free_key(Storage& storage, std::string key, std::string_view content, const PlannedKeys& planned) {
    try {
        if (!is_taken(storage, key, content, planned)) return key;
        for (int number = 2;; ++number) {
            std::string candidate = fmt::format("{}-{}", key, number);
            if (!is_taken(storage, candidate, content, planned)) return candidate;
        }
    } catch (const std::exception&) {
        return key;  // the write will say what is wrong
    }
}

}  // namespace whittle::inline v0
