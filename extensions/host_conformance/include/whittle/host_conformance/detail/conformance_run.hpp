#pragma once

// The checks of `host_conformance`; included by conformance.hpp.

#include "whittle/base/text.hpp"
#include "whittle/conversation/transaction.hpp"
#include "whittle/host_conformance/conformance.hpp"
#include "whittle/host_conformance/detail/conformance_log.hpp"
#include "whittle/storage/storage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// One suite. A sample is a message with what it was built of; edits are tried on copies of it.
template <AgentMessage M>
class ConformanceRun {
public:
    using Traits = message_traits<M>;

    ConformanceRun(const MessageFixture<M>& format, const ConformanceOptions& options)
        : format_(&format), options_(&options), log_(options), source_(options.seed, format.utf8_only) {}

    [[nodiscard]] ConformanceReport run() {
        const auto wanted = static_cast<std::int64_t>(options_->messages);
        for (std::int64_t draws = 40 * wanted; draws > 0 && log_.report().messages < wanted; --draws) try_next();
        log_.check("messages_built", log_.report().messages > 0, [] { return "`build` never gave a message"; });
        for (const PartKind kind : format_->holds) {
            log_.check("parts_covered", covered_[static_cast<std::size_t>(kind)],
                       [&] { return std::string(to_string(kind)) + " was never built"; });
        }
        try_make();
        if constexpr (ToolMessage<M>) try_make_tool_results();
        log_.guard("conversation", [&] { try_conversation(); });
        return std::move(log_.report());
    }

private:
    struct Sample {
        ChatMessage built_of;
        std::uint64_t seed;
        FieldValues fields;
        M message;
        std::string dump;
    };

    [[nodiscard]] std::optional<Sample> build(const ChatMessage& of, std::uint64_t seed) const {
        FieldValues fields(seed);
        std::optional<M> message = format_->build(of, fields);
        if (!message) return std::nullopt;
        std::string dump = format_->dump(*message);
        return Sample{of, seed, std::move(fields), std::move(*message), std::move(dump)};
    }

    /// In one of its shapes.
    [[nodiscard]] bool can_hold(const ChatMessage& m) const {
        for (std::uint64_t seed = 0; seed < 16; ++seed) {
            if (build(m, seed)) return true;
        }
        return false;
    }

    void try_next() {
        const ChatMessage of = source_.next();
        const std::uint64_t seed = source_.below(UINT64_MAX);
        std::optional<Sample> sample;
        if (!log_.guard("messages_built", [&] { sample = build(of, seed); }) || !sample) return;
        ++log_.report().messages;
        for (const Part& part : of.parts) covered_[static_cast<std::size_t>(part.kind)] = true;
        log_.guard("every_part", [&] { try_reading(*sample); });
        if (parts_of(sample->message).size() == of.parts.size()) try_edits(*sample);
        try_missing(*sample);
        log_.guard("visitor_throws", [&] { try_throwing_visitor(*sample); });
        if constexpr (HasCodec<M>) log_.guard("codec", [&] { try_codec(*sample); });
        if constexpr (HasPartIndex<M>) log_.guard("part_index", [&] { try_index(*sample); });
        if constexpr (HasMarkId<M>) log_.guard("mark_id", [&] { try_mark_id(*sample); });
        list_.push_back(std::move(sample->message));
    }

    void try_edits(const Sample& sample) {
        const std::vector<Part>& parts = sample.built_of.parts;
        for (std::size_t part = 0; part < parts.size(); ++part) {
            log_.guard("set_text", [&] { try_texts(sample, part); });
            log_.guard("erase_part", [&] { try_erase(sample, part); });
            if constexpr (HasRenameCall<M>) log_.guard("rename_call", [&] { try_rename(sample, part); });
            if (parts[part].kind == PartKind::tool_call) try_bad_arguments(sample, part);
        }
    }

    [[nodiscard]] bool shows_parts(const std::vector<Part>& expected, const M& m) const {
        return detail::shows(expected, parts_of(m), format_->results_name_tools);
    }
    /// Says what was built and what is shown now.
    [[nodiscard]] static auto shown_instead(const std::vector<Part>& expected, const M& m) {
        return [&] { return "expected " + describe_parts(expected) + ", shown " + describe_parts(parts_of(m)); };
    }

    void try_reading(const Sample& sample) {
        log_.check("role", Traits::role(sample.message) == sample.built_of.role, [&] {
            return "built " + std::string(to_string(sample.built_of.role)) + ", shown " +
                   std::string(to_string(Traits::role(sample.message)));
        });
        check_shown(log_, sample.built_of.parts, parts_of(sample.message), format_->results_name_tools);
    }

    void try_texts(const Sample& sample, std::size_t part) {
        const PartKind kind = sample.built_of.parts[part].kind;
        if (kind == PartKind::other) return;
        for (const std::string& text : replacement_texts(kind)) {
            if (!format_->utf8_only || is_valid_utf8(text)) try_text(sample, part, text);
        }
        if (kind != PartKind::tool_call && kind != PartKind::media) try_text(sample, part, "");
        if (kind != PartKind::media) try_text(sample, part, sample.built_of.parts[part].text);
    }

    void try_text(const Sample& sample, std::size_t part, const std::string& text) {
        const bool is_call = sample.built_of.parts[part].kind == PartKind::tool_call;
        if (is_call && !is_json_object(text)) return;  // that of a broken call
        ChatMessage expected = sample.built_of;
        Part& set = expected.parts[part];
        set.text = text;
        if (set.kind == PartKind::media) {
            set.kind = set.call_id.empty() ? PartKind::text : PartKind::tool_result;
            set.media = {};
        }
        M edited = sample.message;
        if (!set_or_refuse(sample, edited, part, text)) return;
        const std::vector<Part> shown = parts_of(edited);
        if (sample.built_of.parts[part].kind == PartKind::media && part < shown.size()) {
            set.tool = shown[part].tool;  // media have none; a text in a result may
            if (has_failed_block(sample, set.call_id))
                set.is_error = shown[part].is_error;  // one that says so is enough
        }
        log_.check("set_text", shows_parts(expected.parts, edited), shown_instead(expected.parts, edited));
        log_.check("copies", format_->dump(sample.message) == sample.dump,
                   [&] { return describe_difference(sample.dump, format_->dump(sample.message)); });
        check_rest(sample, expected, part, edited);
    }

    [[nodiscard]] static bool has_failed_block(const Sample& sample, std::string_view call_id) {
        return std::ranges::any_of(sample.built_of.parts,
                                   [&](const Part& part) { return part.is_error && part.call_id == call_id; });
    }

    /// Thinking is never set by the library: a type may refuse that where it is signed.
    [[nodiscard]] bool set_or_refuse(const Sample& sample, M& edited, std::size_t part, const std::string& text) {
        if (sample.built_of.parts[part].kind != PartKind::thinking) {
            Traits::set_text(edited, part, text);
            return true;
        }
        try {
            Traits::set_text(edited, part, text);
            return true;
        } catch (...) {
            log_.check("set_text_keeps_the_rest", format_->dump(edited) == sample.dump,
                       [] { return "refused to set thinking, and changed the message"; });
            return false;
        }
    }

    void check_rest(const Sample& sample, const ChatMessage& expected, std::size_t part, const M& edited) {
        const std::string dump = format_->dump(edited);
        const bool was_media = sample.built_of.parts[part].kind == PartKind::media;  // another part takes its place
        log_.check("set_text_keeps_the_rest",
                   keeps_fields(sample.fields, sample.dump, dump, was_media ? part : no_part),
                   [&] { return "a field is lost; " + describe_difference(sample.dump, dump); });
        if (expected.parts[part].text.empty() || was_media) return;  // hosts differ in what is left of the part
        const std::optional<Sample> built = build(expected, sample.seed);
        if (!built) return;
        log_.check("set_text_keeps_the_rest", built->dump == dump,
                   [&] { return describe_difference(built->dump, dump); });
    }

    void try_erase(const Sample& sample, std::size_t part) {
        std::vector<Part> expected = sample.built_of.parts;
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(part));
        M edited = sample.message;
        Traits::erase_part(edited, part);
        log_.check("erase_part", shows_erased(sample, part, expected, edited), shown_instead(expected, edited));
        const std::string dump = format_->dump(edited);
        log_.check("erase_part_keeps_the_rest", keeps_fields(sample.fields, sample.dump, dump, part),
                   [&] { return "a field is lost; " + describe_difference(sample.dump, dump); });
    }

    /// A result whose text or only media go may stay as a result without text: a message of that role is one.
    [[nodiscard]] bool shows_erased(const Sample& sample, std::size_t part, std::vector<Part> expected,
                                    const M& edited) const {
        if (shows_parts(expected, edited)) return true;
        const Part& gone = sample.built_of.parts[part];
        if (gone.call_id.empty() && gone.kind != PartKind::tool_result) return false;
        const std::vector<Part> shown = parts_of(edited);
        if (shown.size() != expected.size() + 1 || part >= shown.size()) return false;
        if (shown[part].kind != PartKind::tool_result || !shown[part].text.empty()) return false;
        expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(part), shown[part]);
        return shown[part].call_id == gone.call_id && shows_parts(expected, edited);
    }

    void try_rename(const Sample& sample, std::size_t part) requires HasRenameCall<M> {
        const Part& named = sample.built_of.parts[part];
        if (named.kind != PartKind::tool_call && named.kind != PartKind::tool_result) return;
        ChatMessage expected = sample.built_of;
        expected.parts[part].call_id = "renamed_1";
        M edited = sample.message;
        Traits::rename_call(edited, part, "renamed_1", "");
        if (count_of(sample.built_of, named.call_id) == 1) {  // blocks of a result may be renamed together
            log_.check("rename_call", shows_parts(expected.parts, edited), shown_instead(expected.parts, edited));
        }
        const std::string dump = format_->dump(edited);
        log_.check("rename_call", keeps_fields(sample.fields, sample.dump, dump, no_part),
                   [&] { return "a field is lost; " + describe_difference(sample.dump, dump); });
    }

    [[nodiscard]] static std::size_t count_of(const ChatMessage& m, std::string_view call_id) {
        std::size_t count = 0;
        for (const Part& part : m.parts) count += part.call_id == call_id ? 1 : 0;
        return count;
    }

    void try_bad_arguments(const Sample& sample, std::size_t part) {
        for (const std::string& text : bad_arguments()) {
            M edited = sample.message;
            bool refused = false;
            try {
                Traits::set_text(edited, part, text);
            } catch (...) {
                refused = true;
            }
            log_.check("bad_arguments", refused, [&] { return "took \"" + text + "\" for arguments"; });
            log_.check("bad_arguments", format_->dump(edited) == sample.dump,
                       [&] { return describe_difference(sample.dump, format_->dump(edited)); });
        }
    }

    void try_missing(const Sample& sample) {
        const std::size_t count = parts_of(sample.message).size();
        for (const std::size_t part : {count, count + 7}) {
            M edited = sample.message;
            try {
                Traits::set_text(edited, part, "{}");
            } catch (...) {  // as good as doing nothing
            }
            try {
                Traits::erase_part(edited, part);
            } catch (...) {  // likewise
            }
            log_.check("missing_part", format_->dump(edited) == sample.dump,
                       [&] { return describe_difference(sample.dump, format_->dump(edited)); });
        }
    }

    void try_throwing_visitor(const Sample& sample) {
        if (sample.built_of.parts.empty()) return;
        bool came_out = false;
        try {
            Traits::for_each_part(sample.message, [](const PartView&) { throw std::length_error("enough"); });
        } catch (const std::length_error&) {
            came_out = true;
        }
        log_.check("visitor_throws", came_out && format_->dump(sample.message) == sample.dump,
                   [] { return "what a visitor threw did not come out, or the message changed"; });
    }

    void try_codec(const Sample& sample) requires HasCodec<M> {
        const M back = Traits::from_bytes(Traits::to_bytes(sample.message));
        const std::string dump = format_->dump(back);
        log_.check("codec", dump == sample.dump, [&] { return describe_difference(sample.dump, dump); });
    }

    void try_mark_id(const Sample& sample) requires HasMarkId<M> {
        constexpr std::string_view id = "0123456789abcdef0123456789abcdef-7";
        M marked = sample.message;
        Traits::set_mark_id(marked, id);
        log_.check("mark_id", Traits::mark_id(marked) == id, [&] { return "it is " + Traits::mark_id(marked); });
        log_.check("mark_id", parts_of(marked) == parts_of(sample.message),
                   [&] { return "the parts are " + describe_parts(parts_of(marked)); });
        if constexpr (HasCodec<M>) {
            const M back = Traits::from_bytes(Traits::to_bytes(marked));
            log_.check("mark_id", Traits::mark_id(back) == id, [] { return "it is not saved"; });
        }
        Traits::set_mark_id(marked, {});
        log_.check("mark_id", format_->dump(marked) == sample.dump,
                   [&] { return describe_difference(sample.dump, format_->dump(marked)); });
    }

    void try_index(const Sample& sample) requires HasPartIndex<M> {
        const std::vector<Part> walked = parts_of(sample.message);
        const auto index = Traits::index_parts(sample.message);
        if (!log_.check("part_index", index.size() == walked.size(), [] { return "another number of parts"; })) return;
        std::vector<Part> found;
        for (std::size_t part = 0; part < walked.size(); ++part) {
            Traits::visit_part(sample.message, index, part,
                               [&](const PartView& view) { found.push_back(to_part(view)); });
        }
        log_.check("part_index", found == walked,
                   [&] { return "walked " + describe_parts(walked) + ", by index " + describe_parts(found); });
        for (std::size_t part = 0; part < walked.size(); ++part) try_in_place(sample, walked[part].kind, part);
    }

    void try_in_place(const Sample& sample, PartKind kind, std::size_t part) requires HasPartIndex<M> {
        if (kind == PartKind::other) return;
        const std::string& text = replacement_texts(kind).front();
        M in_place = sample.message;
        M plain = sample.message;
        if (Traits::set_text_in_place(in_place, Traits::index_parts(sample.message), part, text))
            Traits::set_text(plain, part, text);
        log_.check("part_index", format_->dump(in_place) == format_->dump(plain),
                   [&] { return describe_difference(format_->dump(plain), format_->dump(in_place)); });
    }

    void try_make() {
        for (const Role role : {Role::system, Role::user, Role::assistant}) {
            if (role == Role::system && !can_hold(ChatMessage::system("text"))) continue;
            for (const std::string& text : replacement_texts(PartKind::text)) {
                if (format_->utf8_only && !is_valid_utf8(text)) continue;
                log_.guard("make", [&] {
                    const M made = Traits::make(role, text);
                    const std::vector<Part> expected{Part{.text = text}};
                    log_.check("make", Traits::role(made) == role && shows_parts(expected, made),
                               shown_instead(expected, made));
                });
            }
        }
    }

    void try_make_tool_results() requires ToolMessage<M> {
        ChatMessage failed = ChatMessage::result("c", "tool", "text", true);
        ChatMessage image{Role::tool, {{.kind = PartKind::media, .call_id = "c", .media = {.url = "https://a/b.png"}}}};
        const bool with_errors = can_hold(failed);
        const bool with_media = can_hold(image);
        for (int n = 0; n < 50; ++n) {
            const std::vector<ToolResult> results = source_.next_results();
            log_.guard("make_tool_results", [&] {
                std::vector<Part> shown;
                for (const M& m : Traits::make_tool_results(results)) {
                    for (Part& part : parts_of(m)) shown.push_back(std::move(part));
                }
                log_.check("make_tool_results",
                           shows_results(results, shown, with_errors, with_media, format_->results_name_tools),
                           [&] { return "made of " + describe_results(results) + ", shown " + describe_parts(shown); });
            });
        }
    }

    /// All messages in one list, edited wherever that is allowed, their texts in a store, and back.
    void try_conversation() {
        Conversation<M> conversation("conformance");
        std::vector<M> host = list_;
        const std::uint64_t version = conversation.sync(host).version;
        check_list(conversation.messages(), "taken in");
        auto edit = conversation.edit("conformance", {.storage = memory_storage(), .verify = false});
        for (std::size_t i = 0; i < list_.size(); ++i) shorten(edit, i);
        edit.commit({.require_token_reduction = false});
        conversation.apply_to(host, version);
        for (std::size_t i = 0; i < host.size(); ++i) {
            const std::string ours = format_->dump(conversation.messages()[i]);
            log_.check("conversation", format_->dump(host[i]) == ours,
                       [&] { return "apply_to: " + describe_difference(ours, format_->dump(host[i])); });
        }
        while (conversation.undo()) continue;
        check_list(conversation.messages(), "undone");
    }

    void shorten(Transaction<M>& edit, std::size_t message) {
        const std::vector<PartInfo> parts(edit.outline()[message].parts.begin(), edit.outline()[message].parts.end());
        for (std::size_t part = parts.size(); part-- > 0;) {
            const PartKind kind = parts[part].kind;
            if (kind == PartKind::other || kind == PartKind::thinking || kind == PartKind::media) continue;
            if (!edit.may_edit(message, part)) continue;
            const std::string key = "conformance/" + std::to_string(message) + "-" + std::to_string(part);
            edit.store_text_on_commit(key, message, part);
            edit.set_text(message, part, replacement_texts(kind).front(),
                          {.origin = Origin::placeholder, .reason = "shorten", .stored_keys = {key}});
        }
    }

    void check_list(std::span<const M> messages, std::string_view when) {
        if (!log_.check("conversation", messages.size() == list_.size(), [] { return "messages came or went"; }))
            return;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            const std::string expected = format_->dump(list_[i]);
            const std::string found = format_->dump(messages[i]);
            log_.check("conversation", found == expected,
                       [&] { return std::string(when) + ": " + describe_difference(expected, found); });
        }
    }

    const MessageFixture<M>* format_;
    const ConformanceOptions* options_;
    ConformanceLog log_;
    ConformanceMessages source_;
    std::vector<M> list_{};
    bool covered_[6]{};  // by kind
};

}  // namespace whittle::inline v0::detail

namespace whittle::inline v0 {

template <AgentMessage M>
ConformanceReport host_conformance(const MessageFixture<M>& format, const ConformanceOptions& options) {
    detail::require_conformance_input(format.build && format.dump, options);
    return detail::ConformanceRun<M>(format, options).run();
}

}  // namespace whittle::inline v0
