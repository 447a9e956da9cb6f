#include "whittle/condensing/detail/condense.hpp"

#include "bounded_result.hpp"
#include "condense_forms.hpp"
#include "distil.hpp"
#include "whittle/base/detail/names.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/held_result.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"
#include "whittle/trimming/detail/result_class.hpp"

#include <algorithm>
#include <utility>

namespace whittle::inline v0 {

namespace detail {

namespace {

/// What a call tells of its result.
struct CallFacts {
    CondensingConfig config{};  ///< what may be done to it
    TextAuthor author = TextAuthor::unknown;
    bool may_distil = false;
};

/// What a tool reads stays as it is for who edits it: a diff or log that a
/// command line prints is not edited. Hits and listings are short lines that differ in what matters.
CallFacts facts_of_call(const CondensingConfig& config, const ToolContext& context) {
    const CallClass call = class_of_call(context.tool, context.arguments);
    CallFacts facts{config, call.by_command || call.runs_commands ? TextAuthor::program : TextAuthor::unknown,
                    config.distiller != nullptr};
    CondensingConfig& own = facts.config;
    const auto is_any = [&](ResultClass c) { return call.by_name == c || call.by_command == c; };
    if (is_any(ResultClass::search) || is_any(ResultClass::listing)) own.condense_logs = false;
    if (config.condense_file_reads || !is_any(ResultClass::read)) return facts;
    facts.may_distil = false;
    own.condense_json = own.condense_html = own.condense_tables = false;
    if (call.by_name == ResultClass::read) own.condense_logs = own.condense_diffs = false;
    return facts;
}

bool has_formats(const CondensingConfig& config) noexcept {
    return config.condense_json || config.condense_logs || config.condense_diffs || config.condense_html ||
           config.condense_tables;
}

/// The result of one call.
class CondensedArrival {
public:
    CondensedArrival(const CondensingConfig& config, std::string_view by, const ToolContext& context,
                     BoundedResult& result)
        : config_(config), by_(by), context_(context), result_(result), held_(context, by, config.storage) {}

    /// What fails here leaves the parts as they came; an object that was stored for one of them stays.
    void condense_all(ToolOutcome& outcome) noexcept {
        try {
            condense_or_throw(outcome);
        } catch (...) {
            held_.emit_failed();
        }
    }

private:
    void condense_or_throw(ToolOutcome& outcome) {
        if (outcome.is_error || outcome.original || !outcome.read_back.empty() || !has_long_text() ||
            shows_stored_text(context_))
            return;
        const CallFacts facts = facts_of_call(config_, context_);
        if (!has_formats(facts.config) && !facts.may_distil) return;
        std::vector<Change> changes;
        for (std::size_t i = 0; i < result_.items().size(); ++i) long_texts_ += may_change(i) ? 1 : 0;
        for (std::size_t i = 0; i < result_.items().size(); ++i) {
            if (may_change(i)) add_change(i, facts, changes);
        }
        if (changes.empty()) return;
        held_.keep_original(outcome, result_.parts());
        for (Change& change : changes) apply(change);
    }

    /// A text in its form, stored already.
    struct Change {
        std::size_t item = 0;
        std::string text{};
        std::string key{};
        TextFormat format = TextFormat::other;
        std::size_t bytes_before = 0;
    };

    [[nodiscard]] bool is_long(const Part& part) const noexcept {
        return part.kind != PartKind::media && part.text.size() > static_cast<std::size_t>(config_.min_bytes);
    }
    [[nodiscard]] bool has_long_text() const {
        return std::ranges::any_of(result_.items(), [&](const BoundedResult::Item& i) { return is_long(i.part); });
    }
    /// Texts that stand for something else are somebody's notices.
    [[nodiscard]] bool may_change(std::size_t i) const {
        const BoundedResult::Item& item = result_.items()[i];
        return is_long(item.part) && item.stored.empty() && is_valid_utf8(item.part.text);
    }

    void add_change(std::size_t i, const CallFacts& facts, std::vector<Change>& changes) {
        const std::string& whole = result_.items()[i].part.text;
        Change change{.item = i, .bytes_before = whole.size()};
        const auto& storage = held_.storage();
        PlannedKeys planned;  // each part's key is its own
        if (storage) change.key = free_key(*storage, key_of(i), whole, planned);
        auto form = condense(whole, facts.config, context_.language, facts.author);
        const auto most = static_cast<std::size_t>(config_.max_condensed_bytes) / std::max<std::size_t>(1, long_texts_);
        if (form) form = detail::within(*std::move(form), most, context_.language);
        if (form) use(*form, whole, change);
        if (facts.may_distil) use_extract(form ? form->format : TextFormat::other, whole, change);
        if (change.text.empty()) return;
        if (storage) held_.put(change.key, whole);
        changes.push_back(std::move(change));
    }

    /// If it pays.
    void use(const CondensedText& form, const std::string& whole, Change& change) const {
        const auto& storage = held_.storage();
        const std::string_view reader = storage ? reader_among(context_.tools) : std::string_view();
        const std::string location = storage ? reference_to(*storage, change.key, reader) : std::string();
        const CondensedSource source{.tool = context_.tool,
                                     .bytes = static_cast<std::int64_t>(whole.size()),
                                     .lines = count_lines(whole),
                                     .location = location,
                                     .reader = reader};
        std::string shown = condensing_notice(form, source, context_.language) + form.text;
        if (!pays(shown, whole)) return;
        change.text = std::move(shown);
        change.format = form.format;
    }

    /// Of a text that is long in its form too. One call for each result.
    void use_extract(TextFormat format, const std::string& whole, Change& change) {
        const std::string& shown = change.text.empty() ? whole : change.text;
        if (shown.size() <= static_cast<std::size_t>(config_.distil_min_bytes) || std::exchange(was_asked_, true))
            return;
        auto extract = distil(whole, config_, by_, context_, held_.tokens(shown));
        if (!extract) return;
        const bool is_chinese = context_.language == Language::chinese;
        use({.format = format,
             .text = *std::move(extract) + "\n",
             .is_extract = true,
             .legend = is_chinese ? "未摘录的内容没有标记" : "what it leaves out has no marks"},
            whole, change);
    }

    [[nodiscard]] bool pays(const std::string& shown, const std::string& whole) const {
        const double most = (1.0 - config_.min_gain) * static_cast<double>(whole.size());
        return shown.size() < whole.size() && static_cast<double>(shown.size()) <= most &&
               held_.tokens(shown) < held_.tokens(whole);
    }

    [[nodiscard]] std::string key_of(std::size_t i) const {
        std::string key = context_.conversation_id + "/condensed/" + context_.key_safe_call_id;
        return i == 0 ? key : key + "-part" + std::to_string(i + 1);
    }

    void apply(Change& change) {
        BoundedResult::Item& item = result_.items()[change.item];
        if (!change.key.empty()) item.stored.push_back(held_.stored_as(change.item, change.key));  // may throw: first
        item.part.text = std::move(change.text);
        if (context_.events == nullptr) return;
        const std::string text = context_.tool + ": a result of " + std::to_string(change.bytes_before) +
                                 " bytes was condensed to " + std::to_string(item.part.text.size()) + ": " +
                                 std::string(to_string(change.format, Language::english));
        emit(*context_.events, {.level = Event::Level::info,
                                .source = by_,
                                .kind = "condensed",
                                .text = text,
                                .conversation = context_.conversation_id});
    }

    const CondensingConfig& config_;
    std::string_view by_;
    const ToolContext& context_;
    BoundedResult& result_;
    HeldResult held_;
    std::size_t long_texts_ = 0;  // which share `max_condensed_bytes`
    bool was_asked_ = false;      // the model, for this result
};

}  // namespace

}  // namespace detail

ToolOutcome run_condensed(const CondensingConfig& config, std::string_view by, const ToolContext& context,
                          PartSink& out, const ToolNext& next) {
    const auto readers = {read_offloaded_name, fetch_media_name};
    if (matches_tool(readers, context.tool) || matches_tool(config.exclude_tools, context.tool))
        return next(context, out);
    detail::BoundedResult result(static_cast<std::size_t>(config.max_buffered_bytes), out);
    ToolOutcome outcome;
    try {
        outcome = next(context, result);
    } catch (...) {
        if (result.is_held()) result.pass_on();
        throw;
    }
    if (!result.is_held()) return outcome;
    detail::CondensedArrival arrival(config, by, context, result);
    arrival.condense_all(outcome);
    result.pass_on();
    return outcome;
}

}  // namespace whittle::inline v0
