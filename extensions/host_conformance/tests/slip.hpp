// A message type with a field of every kind, and traits that are right, or wrong in one way, chosen while a test runs.
#pragma once

#include "support/catch.hpp"
#include "whittle/host_conformance/conformance.hpp"

#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slips {

enum class Mistake {
    none,
    shows_another_role,
    skips_media,
    shows_calls_first,
    takes_thinking_for_text,
    ends_texts_at_nul,
    trims_thinking,
    reformats_arguments,
    ends_results_at_nul,
    forgets_errors,
    loses_ids_of_results,
    loses_names_of_tools,
    loses_urls,
    sets_the_first_part,
    drops_a_field_when_it_sets,
    drops_a_mark_when_it_sets,
    erases_the_last_part,
    drops_a_field_when_it_erases,
    takes_any_arguments,
    adds_missing_parts,
    shares_its_parts,
    swallows_exceptions,
    makes_users_only,
    swaps_made_results,
    forgets_ids_when_it_renames,
    forgets_marks_when_it_saves,
    is_off_by_one,
    throws_at_long_texts,
    shows_ids_of_marks,
};

struct Slip {
    struct Block {
        whittle::Part part{};
        std::string mark{};  ///< as a cache breakpoint
    };
    using Blocks = std::vector<Block>;
    whittle::Role role = whittle::Role::user;
    std::string sender{};  ///< a field that whittle does not know
    std::shared_ptr<Blocks> blocks = std::make_shared<Blocks>();
    bool is_shared = false;
    std::string mark_id{};

    Slip() = default;
    Slip(const Slip& other) { *this = other; }
    Slip& operator=(const Slip& other) {
        role = other.role;
        sender = other.sender;
        is_shared = other.is_shared;
        mark_id = other.mark_id;
        blocks = is_shared ? other.blocks : std::make_shared<Blocks>(*other.blocks);
        return *this;
    }
    Slip(Slip&&) noexcept = default;
    Slip& operator=(Slip&&) noexcept = default;
};

/// The one that the traits make now.
inline Mistake mistake = Mistake::none;
inline bool makes(Mistake one) { return mistake == one; }

inline std::string bytes_of(const Slip& slip) {
    std::string bytes = std::to_string(static_cast<int>(slip.role)) + '|' + slip.sender + '|';
    const auto add = [&](const std::string& text) { bytes += std::to_string(text.size()) + ':' + text; };
    for (const auto& [part, mark] : *slip.blocks) {
        bytes += std::to_string(static_cast<int>(part.kind)) + (part.is_error ? "!" : ".");
        for (const std::string& text :
             {part.text, part.call_id, part.tool, part.media.mime, part.media.url, part.media.bytes, mark})
            add(text);
    }
    if (!slip.mark_id.empty()) add(slip.mark_id);
    return bytes;
}

}  // namespace slips

template <>
struct whittle::message_traits<slips::Slip> {
    using M = slips::Slip;
    using Mistake = slips::Mistake;

    static Role role(const M& m) {
        return slips::makes(Mistake::shows_another_role) && m.role == Role::tool ? Role::user : m.role;
    }

    template <typename Visit>
    static void for_each_part(const M& m, Visit&& visit) {
        try {
            if (slips::makes(Mistake::shows_calls_first)) {
                for (const auto& block : *m.blocks) visit_if(block.part.kind == PartKind::tool_call, block, visit);
                for (const auto& block : *m.blocks) visit_if(block.part.kind != PartKind::tool_call, block, visit);
            } else {
                for (const auto& block : *m.blocks)
                    visit_if(!slips::makes(Mistake::skips_media) || block.part.kind != PartKind::media, block, visit);
            }
        } catch (...) {
            if (!slips::makes(Mistake::swallows_exceptions)) throw;
        }
    }

    static void set_text(M& m, std::size_t part, std::string_view text) {
        const std::string copy(text);
        if (slips::makes(Mistake::adds_missing_parts)) {
            if (part >= m.blocks->size()) m.blocks->resize(part + 1);
        }
        Part& set = m.blocks->at(slips::makes(Mistake::sets_the_first_part) ? 0 : part).part;
        if (set.kind == PartKind::tool_call && !slips::makes(Mistake::takes_any_arguments) && !is_json_object(copy))
            throw std::invalid_argument("no object");
        if (slips::makes(Mistake::throws_at_long_texts) && copy.size() > 4'000) throw std::length_error("too long");
        if (slips::makes(Mistake::drops_a_field_when_it_sets)) m.sender.clear();
        if (slips::makes(Mistake::drops_a_mark_when_it_sets)) m.blocks->at(part).mark.clear();
        if (set.kind == PartKind::media) {
            set.kind = set.call_id.empty() ? PartKind::text : PartKind::tool_result;
            set.media = {};
        }
        set.text = copy;
    }
    static void erase_part(M& m, std::size_t part) {
        if (part >= m.blocks->size()) throw std::out_of_range("no such part");
        if (slips::makes(Mistake::drops_a_field_when_it_erases)) m.sender.clear();
        if (slips::makes(Mistake::erases_the_last_part)) return m.blocks->pop_back();
        m.blocks->erase(m.blocks->begin() + static_cast<std::ptrdiff_t>(part));
    }
    static M make(Role role, std::string_view text) {
        M m;
        m.role = slips::makes(Mistake::makes_users_only) ? Role::user : role;
        m.blocks->push_back({{.text = std::string(text)}, {}});
        return m;
    }
    static std::vector<M> make_tool_results(std::span<const ToolResult> results) {
        std::vector<M> made;
        for (const ToolResult& result : results) {
            M m;
            m.role = Role::tool;
            const Part empty{PartKind::tool_result, {}, result.call_id, result.tool, {}, result.is_error};
            for (const Part& part : result.parts) {
                Part block = empty;
                if (part.kind == PartKind::media) block = {PartKind::media, {}, result.call_id, {}, part.media};
                block.text = part.text;
                m.blocks->push_back({std::move(block), {}});
            }
            if (result.parts.empty()) m.blocks->push_back({empty, {}});
            made.push_back(std::move(m));
        }
        if (slips::makes(Mistake::swaps_made_results) && made.size() > 1) std::swap(made[0], made[1]);
        return made;
    }
    static void rename_call(M& m, std::size_t part, std::string_view call_id, std::string_view tool) {
        Part& named = m.blocks->at(part).part;
        if (!slips::makes(Mistake::forgets_ids_when_it_renames)) named.call_id = std::string(call_id);
        if (!tool.empty()) named.tool = std::string(tool);
    }

    static std::string mark_id(const M& m) { return m.mark_id; }
    static void set_mark_id(M& m, std::string_view id) {
        if (slips::makes(Mistake::shows_ids_of_marks)) m.blocks->push_back({{.text = std::string(id)}, {}});
        m.mark_id = id;
    }

    /// This type is saved in the process only: what it wrote it finds again.
    static std::string to_bytes(const M& m) {
        M kept = m;
        kept.blocks = std::make_shared<slips::Slip::Blocks>(*m.blocks);
        if (slips::makes(Mistake::forgets_marks_when_it_saves)) {
            for (auto& block : *kept.blocks) block.mark.clear();
        }
        std::string bytes = bytes_of(kept);
        saved().insert_or_assign(bytes, std::move(kept));
        return bytes;
    }
    static M from_bytes(std::string_view bytes) { return saved().at(std::string(bytes)); }

    struct Index {
        std::size_t parts = 0;
        [[nodiscard]] std::size_t size() const noexcept { return parts; }
    };
    static Index index_parts(const M& m) {
        std::size_t parts = 0;
        for_each_part(m, [&](const PartView&) { ++parts; });
        return {parts};
    }
    template <typename Visit>
    static void visit_part(const M& m, const Index& index, std::size_t part, Visit&& visit) {
        const std::size_t wanted = slips::makes(Mistake::is_off_by_one) ? (part + 1) % index.parts : part;
        std::size_t at = 0;
        for_each_part(m, [&](const PartView& view) {
            if (at++ == wanted) visit(view);
        });
    }
    static bool set_text_in_place(M&, const Index&, std::size_t, std::string_view) { return false; }

private:
    static std::map<std::string, M>& saved() {
        static std::map<std::string, M> messages;
        return messages;
    }
    static std::string_view ended(std::string_view text) { return text.substr(0, text.find('\0')); }

    template <typename Visit>
    static void visit_if(bool shown, const slips::Slip::Block& block, Visit&& visit) {
        if (!shown) return;
        PartView view = view_of(block.part);
        std::string reformatted;
        const auto is = [&](Mistake wanted, PartKind kind) { return slips::makes(wanted) && view.kind == kind; };
        if (is(Mistake::takes_thinking_for_text, PartKind::thinking)) view.kind = PartKind::text;
        if (is(Mistake::ends_texts_at_nul, PartKind::text)) view.text = ended(view.text);
        if (is(Mistake::ends_results_at_nul, PartKind::tool_result)) view.text = ended(view.text);
        if (is(Mistake::trims_thinking, PartKind::thinking) && view.text.ends_with('\n')) view.text.remove_suffix(1);
        if (is(Mistake::reformats_arguments, PartKind::tool_call)) {
            for (const char c : view.text)
                if (c != ' ') reformatted += c;
            view.text = reformatted;
        }
        if (slips::makes(Mistake::forgets_errors)) view.is_error = false;
        if (is(Mistake::loses_ids_of_results, PartKind::tool_result)) view.call_id = {};
        if (is(Mistake::loses_names_of_tools, PartKind::tool_call)) view.tool = {};
        if (slips::makes(Mistake::loses_urls)) view.media.url = {};
        visit(std::as_const(view));
    }
};

namespace slips {

static_assert(whittle::ToolMessage<Slip> && whittle::HasCodec<Slip> && whittle::HasRenameCall<Slip> &&
              whittle::HasPartIndex<Slip> && whittle::HasMarkId<Slip>);

inline whittle::MessageFixture<Slip> format() {
    using enum whittle::PartKind;
    return {.build =
                [](const whittle::ChatMessage& shown, whittle::FieldValues& others) {
                    Slip m;
                    m.role = shown.role;
                    m.sender = others.value();
                    m.is_shared = makes(Mistake::shares_its_parts);
                    for (std::size_t i = 0; i < shown.parts.size(); ++i)
                        m.blocks->push_back({shown.parts[i], others.one_in(2) ? others.value_of(i) : ""});
                    return std::optional(std::move(m));
                },
            .dump = bytes_of,
            .holds = {text, thinking, tool_call, tool_result, media},
            .results_name_tools = true};
}

}  // namespace slips
