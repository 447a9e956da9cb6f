#include "whittle/summarization/detail/preserved.hpp"
#include "whittle/base/detail/json.hpp"

#include "whittle/base/detail/saturating.hpp"
#include "whittle/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace whittle::inline v0 {

namespace {

constexpr std::size_t max_argument_bytes = 100'000;
constexpr std::size_t min_bytes_worth_keeping = 8;

std::string cut_note(std::int64_t characters, Language language) {
    return language == Language::chinese ? fmt::format("…[截去 {} 个字符]…", characters)
                                         : fmt::format("...[cut: {} characters]...", characters);
}

std::int64_t count_characters(std::string_view text) noexcept {
    return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

/// About `bytes` of a text of so many characters, and how many are left out.
std::string ends_of(std::string_view text, std::int64_t characters, std::size_t bytes, bool with_tail,
                    Language language) {
    const std::string_view head = grapheme_prefix(text, with_tail ? bytes - bytes / 2 : bytes);
    const std::string_view tail = with_tail ? grapheme_suffix(text, bytes / 2) : std::string_view{};
    const std::int64_t left_out = characters - count_characters(head) - count_characters(tail);
    return fmt::format("{}{}{}", head, cut_note(left_out, language), tail);
}

}  // namespace

std::string cut_to_tokens(std::string_view text, std::int64_t max_tokens, bool with_tail, const TokenCounter& counter,
                          Language language) {
    // No counter takes more than this for a token, but for endless runs of one character; and none should be asked to
    // count what will not be kept anyway.
    constexpr std::int64_t most_bytes_per_token = 64;
    const bool may_fit = static_cast<std::int64_t>(text.size()) / most_bytes_per_token <= max_tokens;
    if (max_tokens <= 0) return {};
    if (may_fit && counter.count(text) <= max_tokens) return std::string(text);
    const std::int64_t characters = count_characters(text);
    std::string best;
    std::size_t low = min_bytes_worth_keeping;
    std::size_t high = static_cast<std::size_t>(
        std::min(static_cast<std::int64_t>(text.size()), mul_saturating(max_tokens, most_bytes_per_token)));
    while (low <= high) {
        const std::size_t middle = low + (high - low) / 2;
        std::string shorter = ends_of(text, characters, middle, with_tail, language);
        if (counter.count(shorter) <= max_tokens) {
            best = std::move(shorter);
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return best;
}

namespace {

/// The tokens of a text; more than `most` where it is sure to have more.
std::int64_t size_up_to(std::string_view text, std::int64_t most, const TokenCounter& counter) {
    constexpr std::int64_t most_bytes_per_token = 64;  // as for `cut_to_tokens`
    if (static_cast<std::int64_t>(text.size()) / most_bytes_per_token > most) return add_saturating(most, 1);
    return counter.count(text);
}

/// What one message may take at most: so much that all together fill the budget, and a quarter of it in any case.
std::int64_t share_of_one(std::vector<std::int64_t> sizes, std::int64_t budget) {
    std::ranges::sort(sizes);
    std::int64_t left = budget;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t equal = left / static_cast<std::int64_t>(sizes.size() - i);
        if (sizes[i] > equal) return std::max(equal, budget / 4);
        left -= sizes[i];
    }
    return budget;
}

}  // namespace

KeptUserMessages keep_user_messages(std::vector<std::string> texts, std::int64_t max_tokens,
                                    const TokenCounter& counter, Language language) {
    std::vector<UserText> messages;
    for (std::string& text : texts) messages.push_back({std::move(text)});
    KeptUserMessages kept;
    kept.texts = strings_of(keep_user_texts(std::move(messages), max_tokens, counter, language, kept.left_out));
    return kept;
}

std::vector<UserText> keep_user_texts(std::vector<UserText> texts, std::int64_t max_tokens, const TokenCounter& counter,
                                      Language language, std::size_t& left_out) {
    std::vector<bool> is_kept(texts.size());
    std::vector<std::int64_t> sizes;
    for (const UserText& text : texts) sizes.push_back(size_up_to(text.text, max_tokens, counter));
    const auto is_once = [&](std::size_t i) { return texts[i].times_beside_results <= 1; };
    std::vector<std::int64_t> once;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (is_once(i)) once.push_back(sizes[i]);
    }
    std::int64_t share = share_of_one(std::move(once), max_tokens);
    const std::int64_t brief = max_tokens / 16;
    std::int64_t left = max_tokens;
    // Newest first, up to the first without room. Returns whether that came.
    const auto take = [&](std::int64_t least_left, auto&& is_wanted) {
        for (std::size_t i = texts.size(); i-- > 0;) {
            if (is_kept[i] || !is_wanted(i)) continue;
            const bool is_whole = sizes[i] <= share;
            if (left - (is_whole ? sizes[i] : share) < least_left && least_left > 0) return;
            std::string shown = cut_to_tokens(texts[i].text, std::min(left, share), true, counter, language);
            if (shown.empty() && !texts[i].text.empty()) return;
            left -= counter.count(shown);
            texts[i].text = std::move(shown);
            is_kept[i] = true;
        }
    };
    take(max_tokens / 2, [&](std::size_t i) { return is_once(i) && sizes[i] <= brief; });
    take(0, is_once);
    share = left;  // what repeats gets what the others leave
    take(0, [](std::size_t) { return true; });
    std::vector<UserText> kept;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (is_kept[i]) kept.push_back(std::move(texts[i]));
    }
    left_out = texts.size() - kept.size();
    return kept;
}

std::vector<std::string> strings_of(std::span<const UserText> texts) {
    std::vector<std::string> strings;
    for (const UserText& text : texts) strings.push_back(text.text);
    return strings;
}

std::vector<int> times_of(std::span<const UserText> texts) {
    std::vector<int> times;
    for (const UserText& text : texts) times.push_back(text.times_beside_results);
    if (std::ranges::count(times, 0) == std::ssize(times)) times.clear();
    return times;
}

std::vector<UserText> without_repeats(std::vector<UserText> texts, std::span<const std::string> standing) {
    const auto beginning = [](std::string_view text) { return text.substr(0, repeated_beginning_bytes); };
    std::unordered_set<std::string> stands;
    for (const std::string& text : standing) stands.emplace(beginning(text));
    std::unordered_map<std::string, std::size_t> newest;  // by beginning: the place in `kept`
    std::vector<UserText> kept;
    for (; !texts.empty(); texts.pop_back()) {
        UserText& text = texts.back();
        if (text.times_beside_results > 0) {
            std::string key(beginning(text.text));
            if (stands.contains(key)) continue;
            const auto [same, is_new] = newest.emplace(std::move(key), kept.size());
            if (!is_new) {
                kept[same->second].times_beside_results = 2;
                continue;
            }
        }
        kept.push_back(std::move(text));
    }
    std::ranges::reverse(kept);
    return kept;
}

std::optional<std::string> skill_name_in(std::string_view arguments) {
    if (arguments.size() > max_argument_bytes || !is_json_object(arguments)) return std::nullopt;
    const detail::JsonValue json = detail::parse_json(arguments);
    for (const char* key : {"skill", "skill_name", "name"}) {
        const std::string* const name = json.find_string(key);
        if (name != nullptr && !is_blank(*name)) return *name;
    }
    if (json.size() != 1) return std::nullopt;
    const std::string* const only = json.values().front().string();
    return only != nullptr ? std::optional(*only) : std::nullopt;
}

std::string to_record(const Skill& skill) {
    std::string name = skill.name;
    std::ranges::replace(name, '\n', ' ');
    return name + '\n' + skill.content;
}

Skill skill_from_record(std::string_view record) {
    const std::size_t end = record.find('\n');
    if (end == std::string_view::npos) return {std::string(record), {}};
    return {std::string(record.substr(0, end)), std::string(record.substr(end + 1))};
}

std::vector<Skill> keep_skills(std::vector<Skill> oldest_first, const PreserveSkillsConfig& config,
                               std::int64_t room_tokens, const TokenCounter& counter, Language language) {
    std::vector<Skill> kept;
    std::set<std::string, std::less<>> seen;
    std::int64_t left = std::min(config.skills_token_budget, room_tokens);
    for (auto skill = oldest_first.rbegin(); skill != oldest_first.rend(); ++skill) {
        if (static_cast<std::int64_t>(kept.size()) >= config.max_skills) break;
        if (!seen.insert(skill->name).second) continue;
        Skill shown{skill->name, cut_to_tokens(skill->content, config.max_tokens_per_skill, false, counter, language)};
        const std::int64_t tokens = counter.count(shown.content);
        if (tokens > left) break;
        left -= tokens;
        kept.push_back(std::move(shown));
    }
    std::ranges::reverse(kept);
    return kept;
}

std::string to_text(std::span<const Skill> skills, Language language) {
    if (skills.empty()) return {};
    std::string text(language == Language::chinese
                         ? "以下技能已在本对话较早的部分加载。它们是已加载的参考资料，不是新的指令；无需再次加载。"
                         : "The skills below were loaded earlier in this conversation. They are reference material "
                           "that is already loaded, not a new instruction; there is no need to load them again.");
    for (const Skill& skill : skills)
        text += fmt::format("\n\n## {}{}\n\n{}", language == Language::chinese ? "技能：" : "Skill: ", skill.name,
                            skill.content);
    return text;
}

namespace {

std::string_view attached_heading(Language language) noexcept {
    return language == Language::chinese ? "这不是用户发来的消息。以下文件在摘要之前使用过，现在重新读取：以此处的内容"
                                           "为准，而不是较早消息中的内容。"
                                         : "This is not a message from the user. The files below were used before the "
                                           "summary and were read again "
                                           "just now: they are as they stand here, not as earlier messages had them.";
}

std::string file_section(const AttachedFile& file, Language language) {
    return fmt::format("\n\n## {}{}\n\n{}", language == Language::chinese ? "文件：" : "File: ", file.path, file.text);
}

}  // namespace

std::vector<AttachedFile> keep_files(std::span<const AttachedFile> files, const AttachFilesConfig& config,
                                     std::int64_t room_tokens, const TokenCounter& counter, Language language) {
    std::vector<AttachedFile> kept;
    std::int64_t left = std::min(config.max_tokens, room_tokens) - counter.count(attached_heading(language));
    for (const AttachedFile& file : files) {
        if (static_cast<std::int64_t>(kept.size()) >= config.max_files) break;
        const std::int64_t around = add_saturating(counter.count(file_section({file.path, {}}, language)), 2);
        const std::int64_t most = std::min(config.max_tokens_per_file, left - around);
        AttachedFile shown{file.path, cut_to_tokens(to_valid_utf8(file.text), most, false, counter, language)};
        const std::int64_t tokens = add_saturating(counter.count(file_section(shown, language)), 1);
        if (tokens > left || (shown.text.empty() && !file.text.empty())) break;
        left -= tokens;
        kept.push_back(std::move(shown));
    }
    return kept;
}

std::string to_text(std::span<const AttachedFile> files, Language language) {
    if (files.empty()) return {};
    std::string text(attached_heading(language));
    for (const AttachedFile& file : files) text += file_section(file, language);
    return text;
}

namespace detail {

namespace {

/// Collects skills from calls and results in list order.
class SkillCollector {
public:
    explicit SkillCollector(std::string_view tool) : tool_(tool) {}

    void add_carried(const Provenance& provenance);
    void add_part(const PartView& part, const Mark& mark);
    [[nodiscard]] std::vector<Skill> take();

private:
    std::string_view tool_;
    std::map<std::string, std::string, std::less<>> names_{};  // by call id
    std::vector<std::pair<std::string, Skill>> found_{};       // with the call id; empty for carried ones
};

void SkillCollector::add_carried(const Provenance& provenance) {
    for (const std::string& record : provenance.skill_records) found_.emplace_back("", skill_from_record(record));
}

void SkillCollector::add_part(const PartView& part, const Mark& mark) {
    if (origin_of(mark) != Origin::original) return;
    if (part.kind == PartKind::tool_call && part.tool == tool_) {
        if (auto name = skill_name_in(part.text)) names_.insert_or_assign(std::string(part.call_id), *std::move(name));
        return;
    }
    if (part.kind != PartKind::tool_result || part.is_error) return;
    const auto name = names_.find(part.call_id);
    if (name == names_.end()) return;
    if (!found_.empty() && !part.call_id.empty() && found_.back().first == part.call_id) {
        found_.back().second.content.append("\n").append(part.text);  // a result in several texts
        return;
    }
    found_.emplace_back(part.call_id, Skill{name->second, std::string(part.text)});
}

std::vector<Skill> SkillCollector::take() {
    std::vector<Skill> skills;
    for (auto& [id, skill] : found_) {
        if (!is_blank(skill.content)) skills.push_back(std::move(skill));
    }
    return skills;
}

/// Calls `visit` with each text of message `i` that stands beside its tool results.
void for_each_text_beside_results(VisitParts visit_parts, std::size_t i, const MessageInfo& info,
                                  FunctionRef<void(std::string_view)> visit) {
    if (!is_text_beside_results(info)) return;
    std::size_t p = 0;
    visit_parts(i, [&](const PartView& part) {
        const bool is_original = origin_of(mark_of(info, p++)) == Origin::original;
        if (part.kind == PartKind::text && is_original && !part.text.empty()) visit(part.text);
    });
}

/// The texts of a message, joined by line feeds.
std::string joined_texts(VisitParts visit_parts, std::size_t i) {
    std::string text;
    visit_parts(i, [&](const PartView& part) {
        if (part.kind != PartKind::text || part.text.empty()) return;
        if (!text.empty()) text += '\n';
        text += part.text;
    });
    return text;
}

/// What a summary carries of the user's messages.
void add_carried_texts(const Provenance& summary, std::vector<UserText>& texts) {
    const std::vector<int>& times = summary.times_beside_results;
    for (std::size_t n = 0; n < summary.verbatim_user_messages.size(); ++n)
        texts.push_back({summary.verbatim_user_messages[n], n < times.size() ? times[n] : 0});
}

/// Repeats included. What a summary carries is older than what still stands, also before it.
std::vector<UserText> all_user_texts(VisitParts visit_parts, const Outline& outline,
                                     std::span<const std::size_t> indices, FunctionRef<bool(std::size_t)> is_wanted) {
    std::vector<UserText> texts;
    for (const std::size_t i : indices)
        if (origin_of(outline[i].mark) == Origin::summary) add_carried_texts(*outline[i].mark, texts);
    for (const std::size_t i : indices) {
        if (!is_original_user_message(outline[i]) || !is_wanted(i)) continue;
        if (starts_turn(outline[i])) texts.push_back({joined_texts(visit_parts, i)});
        for_each_text_beside_results(visit_parts, i, outline[i], [&](std::string_view text) {
            texts.push_back({std::string(text), 1});
        });
    }
    return texts;
}

}  // namespace

std::vector<UserText> collect_user_texts(VisitParts visit_parts, const Outline& outline,
                                         std::span<const std::size_t> indices, std::span<const std::size_t> staying,
                                         FunctionRef<bool(std::size_t)> is_wanted) {
    std::vector<std::string> standing;
    for (const std::size_t i : staying)
        for_each_text_beside_results(visit_parts, i, outline[i],
                                     [&](std::string_view text) { standing.emplace_back(text); });
    return without_repeats(all_user_texts(visit_parts, outline, indices, is_wanted), standing);
}

std::vector<Skill> collect_skills(VisitParts visit_parts, const Outline& outline, std::span<const std::size_t> indices,
                                  std::string_view skill_tool) {
    SkillCollector skills(skill_tool);
    for (const std::size_t i : indices) {
        if (outline[i].mark) skills.add_carried(*outline[i].mark);
    }
    for (const std::size_t i : indices) {
        std::size_t p = 0;
        visit_parts(i, [&](const PartView& part) { skills.add_part(part, mark_of(outline[i], p++)); });
    }
    return skills.take();
}

}  // namespace detail

}  // namespace whittle::inline v0
