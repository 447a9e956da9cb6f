#include "opencode_form.hpp"

#include "records.hpp"

#include <fmt/format.h>

namespace whittle::inline v0::logs {

void take_opencode_facts(Session& session, const ordered_json& info, const LogOptions& options, LogNotes& notes) {
    constexpr std::string_view known_opencode = "2.0";
    const std::string_view id = text_at(info, "id");
    session.recording.id = id.empty() ? stem_of(options) : std::string(id);
    session.parent = text_at(info, "parentID");
    session.version = text_at(info, "version");
    session.folder = text_at(info, "directory");
    note_version(notes, session.version, known_opencode);
}

std::optional<double> opencode_time(const ordered_json& value, const char* key) {
    const ordered_json* time = tree_at(value, "time");
    const std::int64_t millis = time == nullptr ? 0 : count_at(*time, key);
    return millis == 0 ? std::nullopt : std::optional(static_cast<double>(millis) / 1'000);
}

std::string opencode_bill_id(const ordered_json& message, std::string_view model) {
    if (const ordered_json* time = tree_at(message, "time"); time != nullptr) {
        const std::int64_t created = count_at(*time, "created");
        const std::int64_t completed = count_at(*time, "completed");
        if (created > 0 && completed > 0) return fmt::format("opencode/{}-{}/{}", created, completed, model);
    }
    const std::string_view id = text_at(message, "id");
    return id.empty() ? std::string() : fmt::format("opencode/{}", id);
}

std::optional<Usage> opencode_usage(const ordered_json& holder) {
    const ordered_json* tokens = tree_at(holder, "tokens");
    if (tokens == nullptr) return std::nullopt;
    const ordered_json* cache = tree_at(*tokens, "cache");
    Usage usage{.uncached_input = count_at(*tokens, "input"),
                .cache_read = cache == nullptr ? 0 : count_at(*cache, "read"),
                .cache_write = cache == nullptr ? 0 : count_at(*cache, "write"),
                .output = count_at(*tokens, "output")};
    const std::int64_t total = count_at(*tokens, "total");
    if (!is_total_of(usage, total)) usage.output = add_saturating(usage.output, count_at(*tokens, "reasoning"));
    usage = usage_by_total(usage, total, CachePlace::outside_input);
    return is_bill(usage) ? std::optional(usage) : std::nullopt;
}

std::string opencode_input(const ordered_json& state) {
    const ordered_json* input = tree_at(state, "input");
    return input == nullptr ? "{}" : to_json_text(*input);
}

}  // namespace whittle::inline v0::logs
