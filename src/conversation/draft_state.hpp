#pragma once

#include "overlay.hpp"

#include "whittle/conversation/detail/edit_environment.hpp"
#include "whittle/conversation/detail/side_table.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::inline v0::detail {

/// What the parts of a draft share.
struct DraftContext {
    SideTable& side;
    std::string by;
    EditEnvironment env;
    std::size_t column;
    std::uint64_t version = side.counters.version;  ///< of the conversation that the draft is of
    std::uint64_t epoch = side.epoch;
    std::int64_t tokens_before = side.columns[column].messages;

    /// From here on the draft is of the conversation as it is now.
    void renew() noexcept {
        version = side.counters.version;
        epoch = side.epoch;
        tokens_before = side.columns[column].messages;
    }
    [[nodiscard]] bool is_current() const noexcept { return side.counters.version == version && side.epoch == epoch; }
    /// Throws Error(conflict).
    void require_current(std::string_view operation) const;
};

/// An object that the commit stores.
struct Offload {
    EditGroup edit_group = 0;
    std::string key{};
    std::string content{};
    std::optional<Draft::Original> original{};
    std::shared_ptr<Storage> storage{};
    bool is_written = false;
    std::optional<std::size_t> source{};  // the conversation's message whose text `original` is the content
};

/// The edits that are staged and what is to be stored for them, in order of their edit groups. Stages an edit on the
/// overlay, and takes edit groups back there. Does not ask what may be edited.
class EditPlan {
public:
    EditPlan(const DraftContext& context, Overlay& overlay) noexcept;

    [[nodiscard]] const std::vector<Edit>& edits() const noexcept { return edits_; }
    [[nodiscard]] std::vector<Offload>& offloads() noexcept { return offloads_; }
    [[nodiscard]] Serial next_serial() const noexcept { return next_serial_; }
    void clear() noexcept;

    EditGroup begin_edit_group() noexcept { return ++edit_group_; }
    void set_text(std::size_t message, std::size_t part, std::string_view text, Provenance&& provenance);
    /// `parts`: ascending, each once. What stays is what it was; the mark keeps the references. Gives the parts that
    /// are no longer shown.
    std::vector<std::size_t> erase(std::size_t message, std::vector<std::size_t> parts, Provenance&& provenance);
    void replace(std::size_t first, std::size_t last, std::vector<AnyMessage> messages, Provenance&& provenance);
    void mark(std::size_t message, Provenance&& provenance);
    /// Into the chain's storage unless it names one. Throws Error(invalid_argument) if there is none,
    /// Error(invalid_key).
    void offload(Offload&& offload);

    void drop_edit_groups(std::vector<EditGroup> edit_groups);
    [[nodiscard]] std::vector<EditGroup> drop_invalid_edit_groups(std::vector<EditGroup> edit_groups);
    /// Makes the overlay whole again where an edit failed half-way.
    void mend();

private:
    [[nodiscard]] Mark freeze(Provenance&& provenance) const;
    std::vector<std::size_t> stage(Edit&& edit, std::size_t at);
    [[nodiscard]] std::optional<std::vector<std::size_t>> places_alone(std::span<const EditGroup> edit_groups) const;
    void erase_edit_groups(std::span<const EditGroup> edit_groups);
    void add_dependents(std::vector<EditGroup>& edit_groups) const;
    [[nodiscard]] std::vector<EditGroup> edit_groups_nearest_to(std::span<const Violation> made,
                                                                std::span<const EditGroup> edit_groups,
                                                                std::size_t at_least) const;

    const DraftContext& context_;
    Overlay& overlay_;
    std::pmr::monotonic_buffer_resource texts_{};  // of the edits, many to an allocation
    std::vector<Edit> edits_{};
    std::vector<Offload> offloads_{};
    EditGroup edit_group_ = 0;
    Serial next_serial_;
};

/// What brings a plan into the conversation: it is checked, stored, committed and reported.
class CommitPipeline {
public:
    CommitPipeline(DraftContext& context, MessagePort& port, Overlay& overlay, EditPlan& plan) noexcept
        : context_(context), port_(port), overlay_(overlay), plan_(plan) {}

    /// As `Draft::store_and_drop_refused`.
    int store();
    /// As `Draft::introduced_violations`.
    [[nodiscard]] std::vector<Violation> introduced_violations() const;
    /// As `Draft::host_would_veto`.
    [[nodiscard]] bool host_would_veto(bool needs_model) const;
    /// As `Draft::commit`. Afterwards the parts of the draft are as new.
    CommitResult commit(const CommitOptions& options);
    /// Takes out thinking from message `first` on, of the open tool loop only where that breaks no rule.
    void drop_thinking_from(std::size_t first);

private:
    [[nodiscard]] bool is_worth_it(const CommitOptions& options) const noexcept;
    void verify() const;
    void erase_thinking(std::size_t first, bool open);
    void drop_void_thinking();
    void write(const Offload& offload, std::string_view content);
    [[nodiscard]] std::optional<StoreFailure> try_write(Offload& offload);
    void keep_candidates_of(std::span<const EditGroup> refused);
    void keep_candidates(FunctionRef<bool(const Candidate&)> stays);
    CommitResult finish(Outcome outcome);
    void fill_report(const CommitResult& result);
    [[nodiscard]] JournalRecord to_record(std::span<const MessagePort::Stretch> stretches);
    void start_again() noexcept;

    DraftContext& context_;
    MessagePort& port_;
    Overlay& overlay_;
    EditPlan& plan_;
    std::vector<std::string> stored_{};
    std::int64_t bytes_stored_ = 0;
    int refused_edit_groups_ = 0;
    std::exception_ptr store_error_{};  // of the first refused write
    std::int64_t thinking_dropped_ = 0;
};

/// What a draft is made of, and what it may edit.
struct DraftState {
    DraftState(DraftContext of, std::unique_ptr<MessagePort> messages)
        : context(std::move(of)), port(std::move(messages)) {}

    DraftContext context;
    std::unique_ptr<MessagePort> port;
    Overlay overlay{context.side, *port, context.column};
    EditPlan plan{context, overlay};
    CommitPipeline pipeline{context, *port, overlay, plan};
    // As the functions of `Draft`.
    bool allow_pinned = false;
    bool allow_editing_foreign_placeholders = false;
    bool allow_editing_open_results = false;
    std::optional<std::vector<bool>> pinned{};  // by index in the conversation; made when first asked for

    [[nodiscard]] bool is_pinned(std::size_t message);
    /// What keeps a message as it is; empty if nothing does.
    [[nodiscard]] std::string_view rule_on(std::size_t message);
    /// What keeps a part as it is, beside what keeps its message.
    [[nodiscard]] std::string_view rule_on(std::size_t message, std::size_t part) const;

    // Before an edit. They throw Error(conflict), Error(invalid_argument) where there is no such message or part, or
    // Error(pinned).
    void begin(std::string_view operation);
    void require_message(std::string_view operation, std::size_t message);
    void require_part(std::string_view operation, std::size_t message, std::size_t part) const;
    void require_no(std::string_view rule, std::string_view operation, std::size_t message) const;
    /// Messages that take the place of [first, last) may carry the thinking of these over, whole, and no other.
    void require_own_thinking(std::size_t first, std::size_t last, std::span<const AnyMessage> messages) const;
};

}  // namespace whittle::inline v0::detail
