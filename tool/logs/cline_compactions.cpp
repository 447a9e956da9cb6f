#include "cline_compactions.hpp"

#include "whittle/provider/detail/json_tree.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace whittle::inline v0::logs {
namespace {

/// Copies of messages, as far as the budget goes.
class KeptByCline {
public:
    KeptByCline(const std::vector<ClineMessage>& messages, CopyBudget& copies, LogNotes& notes)
        : messages_(messages), copies_(copies), notes_(notes) {}

    /// False if that is more than is copied, which is noted.
    bool keep(std::size_t at, const ClineChanges* changes = nullptr, bool without_results = false) {
        if (copies_.is_spent() || !copies_.take(memory_of(messages_[at].json))) return false;
        if (messages_[at].is_reasoning) return true;
        ordered_json json = messages_[at].json;
        if (without_results) drop_results(json);
        if (changes != nullptr && !copies_.take(changes->change(at, json))) return false;
        LogNotes noted_elsewhere;
        ordered_json sent = sent_by_cline(std::move(json), noted_elsewhere);
        if (!kept_.empty()) add_missing_results(kept_.back(), sent);
        if (!is_empty_of_cline(sent)) kept_.push_back(std::move(sent));
        return true;
    }

    [[nodiscard]] std::vector<ordered_json> take() { return std::exchange(kept_, {}); }

    void give_up() {
        ++notes_.unknown["compaction that keeps more than is copied"];
        kept_.clear();
    }

private:
    /// Their calls are not there.
    static void drop_results(ordered_json& json) {
        const ordered_json* content = tree_at(json, "content");
        if (content == nullptr || !content->is_array()) return;
        ordered_json rest = ordered_json::array();
        for (ordered_json& block : json["content"]) {
            if (text_at(block, "type") != "tool_result") rest.push_back(std::move(block));
        }
        json["content"] = std::move(rest);
    }

    const std::vector<ClineMessage>& messages_;
    CopyBudget& copies_;
    LogNotes& notes_;
    std::vector<ordered_json> kept_{};
};

/// Its text, or that of a result's first block.
void set_text_of_block(ordered_json& block, const std::string& text) {
    const std::string_view type = text_at(block, "type");
    if (type == "text") block["text"] = text;
    if (type != "tool_result") return;
    const ordered_json* content = tree_at(block, "content");
    if (content != nullptr && content->is_array() && !content->empty() && text_at(content->front(), "type") == "text")
        block["content"].front()["text"] = text;
}

/// A summary or a marker, and in front of which message the agent went on with it.
struct RooMark {
    std::size_t at = 0;
    std::size_t before = 0;
};

/// Summaries are written behind the messages of their time in newer versions, as the user; before, as the assistant in
/// front of the last three.
std::size_t usual_place_of(const ClineMessage& mark, const ordered_json& json, std::size_t at) {
    constexpr std::size_t kept_by_older = 3;
    const bool is_older = mark.is_summary && !mark.stands_for.empty() && text_at(json, "role") == "assistant";
    return at + 1 + (is_older ? kept_by_older : 0);
}

std::vector<RooMark> roo_marks(const std::vector<ClineMessage>& messages, const ClineBill& bill) {
    std::vector<RooMark> marks;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ClineMessage& one = messages[i];
        if (!one.is_summary && !one.is_cut_marker) continue;
        RooMark mark{i, std::min(usual_place_of(one, one.json, i), messages.size())};
        if (const std::int64_t ms = bill.compaction_of(one.stands_for).ms; ms > 0) {
            const auto is_later = [&](const ClineMessage& other) { return other.ms > ms; };
            const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(i);
            // Times ascend, so half of what is left is passed over at each step.
            const auto behind = std::partition_point(begin + 1, messages.end(),
                                                     [&](const ClineMessage& other) { return !is_later(other); });
            mark.before = static_cast<std::size_t>(behind - messages.begin());
        }
        marks.push_back(mark);
    }
    std::ranges::stable_sort(marks, {}, &RooMark::before);
    return marks;
}

/// The messages that requests hold, while marks come.
class RooView {
public:
    explicit RooView(const std::vector<ClineMessage>& messages) : messages_(messages) {}

    void go_on_to(std::size_t before) {
        for (; reached_ < before; ++reached_) {
            if (!messages_[reached_].is_summary && !messages_[reached_].is_cut_marker) active_.push_back(reached_);
        }
    }

    void mark(std::size_t at) {
        const ClineMessage& mark = messages_[at];
        const bool restarts = mark.is_summary && text_at(mark.json, "role") == "user";
        std::erase_if(active_, [&](std::size_t i) {
            if (restarts) return i < at;
            if (mark.stands_for.empty()) return false;
            return (mark.is_summary ? messages_[i].summed_up_by : messages_[i].left_out_behind) == mark.stands_for;
        });
        active_.insert(std::ranges::lower_bound(active_, at), at);
    }

    [[nodiscard]] const std::vector<std::size_t>& active() const noexcept { return active_; }

private:
    const std::vector<ClineMessage>& messages_;
    std::vector<std::size_t> active_{};  // ascending
    std::size_t reached_ = 0;
};

/// Goes through the replies of Cline, and tells where what their requests hold is no longer what came before.
class ClineCuts {
public:
    ClineCuts(const std::vector<ClineMessage>& messages, ClineChanges& changes, CopyBudget& copies, LogNotes& notes)
        : changes_(changes), kept_(messages, copies, notes) {}

    void take(std::size_t reply, const ClineRequest& request) {
        const bool has_changes = changes_.hold_up_to(request.answered, request.ms);
        const auto range = range_of(request, reply);
        if (range == range_ && !has_changes) return;
        range_ = range;
        if (!keep(reply)) return kept_.give_up();
        Compaction compaction;
        compaction.kept = kept_.take();
        compaction.trigger = "auto";
        found_.emplace_back(reply, std::move(compaction));
    }

    [[nodiscard]] ClineCompactions found() { return std::move(found_); }

private:
    /// nullopt: nothing is left out.
    static std::optional<ClineRange> range_of(const ClineRequest& request, std::size_t reply) {
        if (!request.range || request.range->first > request.range->second || request.range->second >= reply)
            return std::nullopt;
        return request.range;
    }

    bool keep(std::size_t reply) {
        const std::size_t front = range_ ? range_->first : 0;
        for (std::size_t i = 0; i < front; ++i) {
            if (!kept_.keep(i, &changes_)) return false;
        }
        const std::size_t rest = range_ ? range_->second + 1 : 0;
        for (std::size_t i = rest; i < reply; ++i) {
            if (!kept_.keep(i, &changes_, range_ && i == rest)) return false;
        }
        return true;
    }

    ClineChanges& changes_;
    KeptByCline kept_;
    std::optional<ClineRange> range_{};
    ClineCompactions found_{};
};

}  // namespace

void ClineChanges::add(const ordered_json& history) {
    for (const ordered_json& entry : history) {
        if (!entry.is_array() || entry.size() != 2 || !entry[1].is_array() || entry[1].size() != 2) continue;
        for (const ordered_json& block : entry[1][1]) {
            if (!block.is_array() || block.size() != 2 || !block[1].is_array()) continue;
            for (const ordered_json& change : block[1]) {
                const bool is_text = change.is_array() && change.size() >= 3 && change[1] == "text" &&
                                     change[2].is_array() && !change[2].empty() && change[2][0].is_string();
                if (!is_text) continue;
                changes_.emplace(count_in(change[0]),
                                 Change{static_cast<std::size_t>(count_in(entry[0])),
                                        static_cast<std::size_t>(count_in(block[0])), change[2][0].get<std::string>()});
            }
        }
    }
}

bool ClineChanges::hold_up_to(std::int64_t ms, std::int64_t but_of) {
    bool are_any = false;
    while (!changes_.empty()) {
        const auto next = changes_.begin();
        if (next->first >= ms || next->first == but_of) break;
        held_[next->second.message][next->second.block] = std::move(next->second.text);
        changes_.erase(next);
        are_any = true;
    }
    return are_any;
}

std::size_t ClineChanges::change(std::size_t message, ordered_json& json) const {
    const auto held = held_.find(message);
    const ordered_json* content = tree_at(json, "content");
    if (held == held_.end() || content == nullptr || !content->is_array()) return 0;
    std::size_t bytes = 0;
    for (const auto& [block, text] : held->second) {
        if (block >= content->size()) break;
        if (!(*content)[block].is_object()) continue;
        set_text_of_block(json["content"][block], text);
        bytes += text.size();
    }
    return bytes;
}

ClineCompactions compactions_of_cline(const std::vector<ClineMessage>& messages,
                                      const std::vector<ClineRequest>& requests, const std::vector<std::size_t>& of,
                                      ClineChanges& changes, CopyBudget& copies, LogNotes& notes) {
    ClineCuts cuts(messages, changes, copies, notes);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (of[i] != no_cline_request) cuts.take(i, requests[of[i]]);
    }
    return cuts.found();
}

ClineCompactions compactions_of_roo(const std::vector<ClineMessage>& messages, const ClineBill& bill,
                                    CopyBudget& copies, LogNotes& notes) {
    ClineCompactions found;
    RooView view(messages);
    KeptByCline kept(messages, copies, notes);
    for (const RooMark& mark : roo_marks(messages, bill)) {
        if (copies.is_spent()) {
            kept.give_up();
            continue;
        }
        view.go_on_to(mark.before);
        view.mark(mark.at);
        const bool fits = std::ranges::all_of(view.active(), [&](std::size_t at) { return kept.keep(at); });
        if (!fits) {
            kept.give_up();
            continue;
        }
        Compaction compaction;
        compaction.kept = kept.take();
        if (const auto tokens = bill.compaction_of(messages[mark.at].stands_for).tokens_before; tokens > 0)
            compaction.tokens_before = tokens;
        found.emplace_back(mark.before, std::move(compaction));
    }
    return found;
}

}  // namespace whittle::inline v0::logs
