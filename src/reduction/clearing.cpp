#include "whittle/reduction/detail/clearing.hpp"
#include "../message/result_parts.hpp"
#include "whittle/base/detail/base64.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0 {

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
    detail::JsonWriter json;
    json.open_object();
    json.member("note", note);
    if (!location.empty()) json.member("reference", location);
    json.close_object();
    return json.take();
}

namespace {

bool is_file_name(std::string_view name) noexcept {
    return !name.empty() && name != "." && name != ".." && name.find('\0') == std::string_view::npos;
}

}  // namespace

std::string to_key(std::string_view path, std::string_view from) {
    if (path.starts_with('/')) path.remove_prefix(1);
    std::string key;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view component = path.substr(at, end - at);
        const bool is_safe = is_valid_key(component) || !is_file_name(component);  // what stays bad is refused below
        if (at > 0) key += '/';
        key += is_safe ? std::string(component) : to_safe_name(component);
        at = end + 1;
    }
    require_valid_key(from, key);
    detail::require_no_roots_key(from, key);
    return key;
}

namespace {

class ClearingPlanner {
public:
    ClearingPlanner(const Outline& outline, const ReductionConfig& config, std::span<const std::string> protected_tools,
                    std::string_view self, const std::function<bool(std::size_t)>& is_pinned)
        : outline_(outline),
          config_(config),
          protected_tools_(protected_tools),
          self_(self),
          is_pinned_(is_pinned),
          calls_(outline) {
        std::size_t parts = 0;
        for (std::size_t i = 0; i < outline.size(); ++i) parts += outline[i].parts.size();
        plan_.parts.reserve(parts);  // candidates look into it
    }

    /// The results in `message`, by call.
    void add_results(std::size_t message, std::size_t call, bool is_retained) {
        constexpr std::array<std::size_t, 1> only{0};
        const auto& parts = outline_[message].parts;
        if (parts.size() == 1 && parts.front().kind == PartKind::tool_result)
            return add(only, message, call, is_retained);
        for (const std::vector<std::size_t>& of_call : detail::result_parts(outline_[message]))
            add(of_call, message, call, is_retained);
    }

    [[nodiscard]] ClearingPlan take() noexcept { return std::move(plan_); }

private:
    void add(std::span<const std::size_t> parts, std::size_t message, std::size_t call, bool is_retained) {
        const std::size_t first = plan_.parts.size();
        plan_.parts.insert(plan_.parts.end(), parts.begin(), parts.end());
        ClearingCandidate candidate{.message = message,
                                    .parts = std::span(plan_.parts).subspan(first),
                                    .is_retained = is_retained,
                                    .call = call};
        candidate.rule = rule_for(candidate);
        candidate.call_part = calls_.find(call, first_part(candidate).key_safe_call_id);
        candidate.stored = stored_for(candidate);
        plan_.candidates.push_back(std::move(candidate));
    }

    [[nodiscard]] const PartInfo& first_part(const ClearingCandidate& candidate) const {
        return outline_[candidate.message].parts[candidate.parts.front()];
    }

    [[nodiscard]] std::string_view rule_for(const ClearingCandidate& candidate) const {
        const std::string_view tool = first_part(candidate).tool;
        if (candidate.is_retained) return "retained_round";
        if (is_pinned_(candidate.message)) return "pinned";
        if (matches_tool(protected_tools_, tool)) return "protected_tool";
        if (matches_tool(config_.clear_exclude_tools, tool)) return "excluded_tool";
        if (skips_clearing(config_, tool)) return "skip_clear";
        if (config_.keep_failed && first_part(candidate).is_error) return "failed_call";
        return rule_for_marks(candidate);
    }

    /// The objects that have the original of a result which was shortened when it came in, or which shows one again.
    [[nodiscard]] std::vector<std::vector<std::string>> stored_for(const ClearingCandidate& candidate) const {
        std::vector<std::vector<std::string>> keys;
        const auto is_stored = [&](std::size_t part) {
            const Mark& mark = mark_of(outline_[candidate.message], part);
            return mark && !mark->stored_keys.empty();
        };
        if (std::ranges::none_of(candidate.parts, is_stored)) return keys;
        for (const std::size_t part : candidate.parts) {
            const Mark& mark = mark_of(outline_[candidate.message], part);
            keys.push_back(mark ? mark->stored_keys : std::vector<std::string>());
        }
        return keys;
    }

    /// What another middleware wrote goes only if its original is stored.
    [[nodiscard]] std::string_view rule_for_marks(const ClearingCandidate& candidate) const {
        for (const std::size_t part : candidate.parts) {
            const Mark& mark = mark_of(outline_[candidate.message], part);
            if (origin_of(mark) == Origin::original) continue;
            const bool is_own = mark->by == self_;
            const bool is_stored = origin_of(mark) == Origin::placeholder && !mark->stored_keys.empty();
            if (!is_own && !is_stored) return "other_middleware";
            if (is_own && mark->reason == "clear") return "cleared_already";
        }
        return {};
    }

    const Outline& outline_;
    const ReductionConfig& config_;
    std::span<const std::string> protected_tools_;
    std::string_view self_;
    const std::function<bool(std::size_t)>& is_pinned_;
    detail::CallParts calls_;
    ClearingPlan plan_{};
};

}  // namespace

ClearingPlan plan_clearing(const Outline& outline, const ReductionConfig& config,
                           std::span<const std::string> protected_tools, std::string_view self,
                           const std::function<bool(std::size_t)>& is_pinned) {
    ClearingPlanner planner(outline, config, protected_tools, self, is_pinned);
    const std::vector<Round> rounds = outline.rounds();
    const auto retained = retained_rounds(config);
    for (std::size_t r = 0; r < rounds.size(); ++r) {
        for (const std::size_t message : rounds[r].results)
            planner.add_results(message, rounds[r].call_message_index, r + retained >= rounds.size());
    }
    return planner.take();
}

std::int64_t newest_round(const Outline& outline) noexcept {
    for (std::size_t i = outline.size(); i-- > 0;) {
        if (outline[i].round_serial != 0) return static_cast<std::int64_t>(outline[i].serial);
    }
    return 0;
}

std::string last_error_lines(std::string_view text) {
    constexpr std::size_t most_lines = 3;
    constexpr std::size_t most_bytes = 300;
    std::string lines;
    for (std::size_t count = 0; count < most_lines && lines.size() < most_bytes;) {
        text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);  // nothing where all is space
        if (text.empty()) break;
        const std::size_t start = text.rfind('\n') + 1;  // 0 if there is none
        const std::string_view line = grapheme_prefix(text.substr(start), most_bytes - lines.size());
        if (line.size() < text.size() - start && count > 0) break;
        lines = count == 0 ? std::string(line) : std::string(line) + '\n' + lines;
        text = text.substr(0, start);
        ++count;
    }
    return lines;
}

namespace {

void append_failure(std::string& out, std::string_view last_lines, Language language) {
    if (last_lines.empty()) return;
    out += language == Language::chinese ? "。该调用失败，最后几行：\n" : ". The call failed; its last lines:\n";
    out += last_lines;
    out += '\n';
}

}  // namespace

std::string plain_placeholder(Language language, std::string_view last_lines) {
    std::string text = language == Language::chinese ? "[旧的工具结果内容已清除" : "[Old tool result content cleared";
    append_failure(text, last_lines, language);
    return text += ']';
}

void append_placeholder(std::string& out, const ClearedText& text, Language language) {
    const auto add = [&](std::string_view english, std::string_view chinese, std::string_view value = {}) {
        out += language == Language::chinese ? chinese : english;
        out += value;
    };
    add("[Old ", "[旧的 ", text.tool.empty() ? "tool" : text.tool);
    add(" result cleared: ", " 结果已清除：", std::to_string(text.bytes));
    add(" bytes", " 字节");
    if (text.lines > 0) {
        add(", ", "，", std::to_string(text.lines));
        add(" lines", " 行");
    }
    if (text.has_media) {
        add(". Original: ", "。原件：", text.location);
        if (text.has_text && !text.reader.empty()) {
            add(" - read its text with ", "，文字可用 ", text.reader);
            add("", " 读取");
        }
        if (!text.media_reader.empty()) {
            add(" - see its media with ", "，媒体可用 ", text.media_reader);
            add("", " 取回");
        }
    } else {
        out += way_back(text.location, text.reader, language);
    }
    append_failure(out, text.last_lines, language);
    out += ']';
}

namespace {

/// Media as their bytes, where a type holds them as a data URL.
std::optional<Part> with_bytes(const Part& part) {
    constexpr std::string_view scheme = "data:";
    constexpr std::string_view encoding = ";base64,";
    const std::string_view url = part.media.url;
    const auto at = url.find(encoding);
    if (!url.starts_with(scheme) || at == std::string_view::npos) return std::nullopt;
    auto bytes = from_base64(url.substr(at + encoding.size()));
    if (!bytes) return std::nullopt;
    Part decoded = part;
    decoded.media.url.clear();
    decoded.media.bytes = *std::move(bytes);
    if (decoded.media.mime.empty()) decoded.media.mime = url.substr(scheme.size(), at - scheme.size());
    return decoded;
}

/// Whether that array has the part as an element. Inside of a string the element's quotes would be escaped.
bool has_element(std::string_view array, const Part& part) {
    const std::string alone = offload_content(std::array{part});
    if (!array.starts_with('[') || !alone.starts_with('[')) return false;
    return array.find(std::string_view(alone).substr(1, alone.size() - 2)) != std::string_view::npos;
}

}  // namespace

bool holds_part(Storage& storage, const std::string& key, const Part& part) {
    try {
        const auto content = storage.get(key);
        if (!content) return false;
        const auto decoded = with_bytes(part);
        return has_element(*content, part) || (decoded && has_element(*content, *decoded));
    } catch (const std::exception&) {
        return false;
    }
}

std::string clearing_placeholder(const ClearedText& text, Language language) {
    std::string placeholder;
    append_placeholder(placeholder, text, language);
    return placeholder;
}

}  // namespace whittle::inline v0
