#pragma once

#include "whittle/reduction/detail/clearing_run.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// The clearing of one call's results, and of its arguments.
class ResultClearing {
public:
    /// Borrows both.
    ResultClearing(ClearingScope& scope, const ClearingCandidate& candidate) : scope_(scope), candidate_(candidate) {}

    /// Plans it as an edit group of its own. Gives the tokens that it frees; 0 if everything was left as it is.
    std::int64_t stage();
    [[nodiscard]] EditGroup edit_group() const noexcept { return edit_group_; }
    /// A user's function decided.
    [[nodiscard]] bool is_users() const noexcept { return is_users_; }
    /// Parts of the message that are gone, ascending.
    [[nodiscard]] const std::vector<std::size_t>& erased() const noexcept { return erased_; }

private:
    /// What is to be stored of a result.
    struct Offload {
        std::int64_t tokens = 0;               // of all its parts
        bool is_text = false;                  // the text of its only part
        Hash128 print{};                       // of that text
        std::optional<std::string> content{};  // anything else
    };

    [[nodiscard]] std::string_view tool() const { return scope_.tool_of(candidate_); }
    [[nodiscard]] std::string arguments() const;
    /// What a user's function says of a call and its result.
    template <typename Result>
    [[nodiscard]] Result ask(const std::function<Result(const ToolDetail&)>& function,
                             const std::vector<Part>& parts) const {
        const std::string raw = arguments();
        const PartInfo& part = scope_.first_part(candidate_);
        CallbackContext context = scope_.turn.callback_context();
        context.key_safe_call_id = part.key_safe_call_id;
        context.round_serial = scope_.edit.outline()[candidate_.call].serial;
        return function(ToolDetail{context, part.tool, part.call_id, raw, parts});
    }
    void stage_edits(const std::vector<Part>& parts, std::optional<ClearResult> handled);
    void write_placeholder(std::string& placeholder, ClearedText& text, std::span<const std::string> stored,
                           const Storage* storage) const;
    void stage_result(const std::vector<Part>& parts);
    void stage_arguments(const std::vector<Part>& parts);
    void stage_handler(const std::vector<Part>& parts, ClearResult result);
    [[nodiscard]] std::string failed_lines() const;
    [[nodiscard]] std::string key_for(const std::vector<Part>& parts) const;
    void name_object(const std::vector<Part>& parts, Storage& storage, std::string_view content, Provenance& provenance,
                     ClearedText& text);
    [[nodiscard]] bool is_held_beside(Storage& storage, const PartView& part) const;
    Offload look_at(const std::vector<Part>& parts, Storage* storage, Provenance& provenance, ClearedText& text);

    [[nodiscard]] std::size_t shown() const { return scope_.edit.outline()[candidate_.message].parts.size(); }
    void set_parts(const std::vector<Part>& before, const std::vector<Part>& now, const Provenance& provenance);
    void set_each(const std::vector<bool>& is_new, const std::vector<Part>& now, const Provenance& provenance);
    void set_all(std::string_view text, Provenance provenance);

    ClearingScope& scope_;
    const ClearingCandidate& candidate_;
    EditGroup edit_group_ = 0;
    bool is_users_ = false;
    std::vector<std::size_t> erased_{};
};

}  // namespace whittle::inline v0::detail
