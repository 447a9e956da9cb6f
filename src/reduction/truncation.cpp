#include "whittle/reduction/detail/truncation.hpp"
#include "../conversation/read_back.hpp"
#include "truncating_sink.hpp"
#include "whittle/base/detail/json.hpp"
#include "whittle/conversation/detail/held_result.hpp"

#include "whittle/base/detail/names.hpp"
#include "whittle/base/text.hpp"
#include "whittle/chain/chain.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/conversation/detail/stored_objects.hpp"
#include "whittle/reduction/detail/clearing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace whittle::inline v0 {

namespace {

/// To what is missing between head and tail; to all parts of the result where they are in one object.
std::string way_back_to(const TruncatedText& text, Language language) {
    if (text.is_among_others) return way_back(text.location, text.reader, language);
    const std::int64_t missing = std::max<std::int64_t>(text.bytes - text.head - text.tail, 0);
    return way_back(text.location, text.reader, language, fmt::format(", offset={}, max_bytes={}", text.head, missing));
}

}  // namespace

std::string truncation_notice(const TruncatedText& text, Language language) {
    const std::string_view tool = text.tool.empty() ? "tool" : text.tool;
    const bool is_lost = text.location.empty();
    if (language == Language::chinese) {
        const std::string where =
            is_lost ? fmt::format("。中间部分无法保存：{}", text.failure) : way_back_to(text, language);
        return fmt::format("\n\n[{} 结果已截断：共 {} 字节，{} 行，显示前 {} 字节和后 {} 字节{}]\n\n", tool, text.bytes,
                           text.lines, text.head, text.tail, where);
    }
    const std::string where = is_lost ? fmt::format(". What is missing here could not be stored: {}", text.failure)
                                      : way_back_to(text, language);
    return fmt::format(
        "\n\n[{} result truncated: {} bytes, {} lines; the first {} and the last {} bytes are shown{}]\n\n", tool,
        text.bytes, text.lines, text.head, text.tail, where);
}

std::string page_notice(const TruncatedText& text, Language language) {
    const std::string way = way_back(text.location, text.reader, language);
    if (language == Language::chinese)
        return fmt::format("\n\n[仅显示此结果 {} 字节中的前 {} 字节。请读取更小的范围{}]", text.bytes, text.head, way);
    return fmt::format("\n\n[The first {} of {} bytes of this result are shown. Ask for a smaller range{}]", text.head,
                       text.bytes, way);
}

std::string cut_to(std::string_view whole, std::size_t max_bytes, TruncatedText text, Language language) {
    const std::string_view head = grapheme_prefix(whole, max_bytes / 2);
    const std::string_view tail = grapheme_suffix(whole, max_bytes / 2);
    text.bytes = static_cast<std::int64_t>(whole.size());
    text.lines = count_lines(whole);
    text.head = static_cast<std::int64_t>(head.size());
    text.tail = static_cast<std::int64_t>(tail.size());
    return std::string(head) + truncation_notice(text, language) + std::string(tail);
}

std::int64_t max_length_for_trunc(const ReductionConfig& config, std::string_view tool) {
    const ToolReductionConfig* settings = find_for_tool(config.tool_config, tool);
    return settings != nullptr ? settings->max_length_for_trunc.value_or(config.max_length_for_trunc)
                               : config.max_length_for_trunc;
}

bool skips_truncation(const ReductionConfig& config, std::string_view tool) {
    const ToolReductionConfig* settings = find_for_tool(config.tool_config, tool);
    const bool is_off =
        settings != nullptr ? settings->skip_truncation.value_or(config.skip_truncation) : config.skip_truncation;
    return is_off || matches_tool(config.trunc_exclude_tools, tool);
}

namespace {

/// A stored object of this conversation that a call asks for.
struct ReadBack {
    std::string location{};
    std::string key{};
};

std::optional<ReadBack> find_read_back(const ToolContext& context) {
    if (!context.objects || context.objects->size() == 0) return std::nullopt;
    for (std::string& location : detail::strings_in_json(context.arguments)) {
        if (const auto object = context.objects->find(location, context.storage))
            return ReadBack{std::move(location), object->key};
        if (const auto object = detail::find_copied(context, context.storage, location))
            return ReadBack{object->key, object->key};  // without what was copied with it
    }
    return std::nullopt;
}

/// One tool call in the truncation phase.
class TruncationRun {
public:
    TruncationRun(const TruncationSetup& setup, const ToolContext& context, PartSink& out)
        : setup_(setup),
          context_(context),
          out_(out),
          callbacks_(find_for_tool(setup.tools, context.tool)),
          read_back_(is_reader() ? find_read_back(context) : std::nullopt) {}

    ToolOutcome run(const ToolNext& next) {
        ToolOutcome outcome = dispatch(next);
        if (read_back_ && !outcome.is_error && outcome.read_back.empty()) outcome.read_back.push_back(read_back_->key);
        return outcome;
    }

private:
    /// Another tool may have a location among its arguments and give something else.
    [[nodiscard]] bool is_reader() const {
        return matches_tool(std::array<std::string_view, 2>{setup_.config.read_file_tool_name, read_offloaded_name},
                            context_.tool);
    }

    ToolOutcome dispatch(const ToolNext& next) {
        if (skips_truncation(setup_.config, context_.tool)) return next(context_, out_);
        if (callbacks_ != nullptr && callbacks_->trunc_sink) return with_sink(next);
        if (callbacks_ != nullptr && callbacks_->trunc_handler) return with_handler(next);
        return by_default(next);
    }

    [[nodiscard]] std::shared_ptr<Storage> storage() const {
        return backend_for(setup_.config, context_.tool, context_.storage);
    }

    [[nodiscard]] std::string default_key() const {
        return default_object_key(setup_.config, context_.conversation_id, "trunc", context_.key_safe_call_id);
    }

    [[nodiscard]] ToolDetail detail_of(std::span<const Part> parts) const {
        return {{.conversation_id = context_.conversation_id,
                 .key_safe_call_id = context_.key_safe_call_id,
                 .round_serial = context_.round_serial,
                 .tools = context_.tools,
                 .stop = context_.stop},
                context_.tool,
                context_.call_id,
                context_.arguments,
                parts};
    }

    [[nodiscard]] std::string key_for(std::span<const Part> parts) const {
        if (!setup_.generate_key) return default_key();
        return to_key(setup_.generate_key(detail_of(parts)), "gen_trunc_offload_file_path");
    }

    [[nodiscard]] detail::TruncationLimits limits() const {
        constexpr std::int64_t room_for_notice = 4'096;
        const ReductionConfig& config = setup_.config;
        const std::int64_t limit = max_length_for_trunc(config, context_.tool);
        const std::int64_t eightfold = limit > INT64_MAX / 8 ? INT64_MAX : 8 * limit;
        const std::int64_t unstored = config.max_bytes_without_store > 0 ? config.max_bytes_without_store : eightfold;
        return {.max_bytes = limit,
                .max_tokens = context_.counter ? config.max_tokens_for_trunc : 0,
                .head_lines = read_back_ ? 0 : config.trunc_head_lines,
                .tail_lines = read_back_ ? 0 : config.trunc_tail_lines,
                .max_unstored = std::max(unstored, add_saturating(limit, room_for_notice)),
                .max_held = config.max_buffered_bytes_for_store,
                .read_location = read_back_ ? read_back_->location : std::string(),
                .reader = reader_among(context_.tools, config.read_file_tool_name),
                .by = setup_.by,
                .storage = storage(),
                .key = [this](std::span<const Part> parts) { return key_for(parts); },
                .fallback_key = default_key()};
    }

    ToolOutcome by_default(const ToolNext& next) {
        detail::TruncatingSink sink(context_, limits(), out_);
        ToolOutcome outcome = run_into(sink, next);
        if (auto original = sink.take_original(); original && !outcome.original)
            outcome.original = OriginalParts{*std::move(original), std::string(setup_.by)};
        return outcome;
    }

    ToolOutcome with_sink(const ToolNext& next) {
        std::unique_ptr<PartSink> sink;
        try {
            sink = callbacks_->trunc_sink(context_, out_);
            if (!sink) throw Error(Errc::callback_failed, "trunc_sink gave no sink");
        } catch (...) {
            ToolOutcome outcome = next(context_, out_);
            fail();
            return outcome;
        }
        return run_into(*sink, next);
    }

    /// A failing tool is passed on when what it gave is out.
    ToolOutcome run_into(PartSink& sink, const ToolNext& next) {
        ToolOutcome outcome;
        std::exception_ptr tool_failure;
        try {
            outcome = next(context_, sink);
        } catch (...) {
            tool_failure = std::current_exception();
        }
        try {
            sink.finish();
        } catch (...) {
            if (!tool_failure) fail();
        }
        if (tool_failure) std::rethrow_exception(tool_failure);
        return outcome;
    }

    ToolOutcome with_handler(const ToolNext& next) {
        detail::HeldResult held(context_, setup_.by, storage());
        return detail::run_held(held, context_, out_, next, [&](ToolOutcome& outcome) {
            try {
                hand_over(held, outcome);
            } catch (...) {
                fail();
            }
        });
    }

    void hand_over(detail::HeldResult& held, ToolOutcome& outcome) const {
        TruncResult result = callbacks_->trunc_handler(detail_of(held.parts));
        if (!result.need_trunc) return;
        if (result.need_offload) offload(result);
        std::vector<StoredPart> stored;
        if (result.need_offload && !result.replacement_parts.empty())
            stored.push_back(held.stored_as(0, std::move(result.key)));
        if (!outcome.original) outcome.original = OriginalParts{std::move(held.parts), std::string(setup_.by)};
        held.parts = std::move(result.replacement_parts);
        held.stored = std::move(stored);
    }

    void offload(TruncResult& result) const {
        const bool is_named = !result.key.empty();
        result.key = is_named ? to_key(result.key, "trunc_handler") : default_key();
        try {
            const auto store = storage();
            if (!store) throw Error(Errc::storage_failed, "no backend for offload");
            if (is_named) {
                store->put_if_absent(result.key, result.offload_content);
            } else {
                result.key = detail::put_to_free_key(*store, result.key, result.offload_content);
            }
        } catch (const std::exception& error) {
            detail::emit_store_failures(context_.events, setup_.by, context_.conversation_id,
                                        std::array{StoreFailure{result.key, error.what()}});
            throw;
        }
    }

    /// Reports the exception in flight; throws it under OnError::propagate.
    void fail() const {
        if (context_.on_middleware_error == OnError::propagate) throw;
        if (context_.events != nullptr)
            detail::emit_failure(*context_.events, setup_.by, context_.conversation_id, detail::current_error_text());
    }

    const TruncationSetup& setup_;
    const ToolContext& context_;
    PartSink& out_;
    const ToolReductionCallbacks* callbacks_;
    std::optional<ReadBack> read_back_;
};

}  // namespace

ToolOutcome run_truncated(const TruncationSetup& setup, const ToolContext& context, PartSink& out,
                          const ToolNext& next) {
    return TruncationRun(setup, context, out).run(next);
}

}  // namespace whittle::inline v0
