#pragma once

#include "whittle/tokens/counter.hpp"
#include "whittle/tokens/detail/usage_fit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0 {

/// The size of a request, in tokens.
struct ContextCount {
    std::int64_t estimate = 0;  ///< messages, system text and tools, by the counter
    std::int64_t total = 0;     ///< what a provider would bill, by `UsageFit`; the estimate without any usage
    bool anchored = false;      ///< whether there is such a usage
    double calibration = 1.0;   ///< `UsageFit::ratio`: billed tokens for one of the estimate
    std::int64_t beside = 0;    ///< system text and tools, within the estimate
    double spread = 0.0;        ///< `UsageFit::spread`: how far off such totals were lately, as a part of them

    /// How the estimate and a total compare: this one, or another ruler's for the same request.
    [[nodiscard]] TokenScale scale_to(std::int64_t other_total) const noexcept;
};

/// What was learnt of how one model bills what one counter counts, for saving.
struct SavedFit {
    std::string counter{};     ///< `TokenCounter::id`
    std::string model{};       ///< `ModelProfile::name`
    bool has_overhead = true;  ///< whether our count in it has system text and tools
    UsageFit::State fit{};     ///< the state of `UsageFit`

    friend bool operator==(const SavedFit&, const SavedFit&) = default;
};

/// What a conversation learnt of its models' counting.
struct Calibrations {
    std::string model{};           ///< the one that was asked last
    std::vector<SavedFit> fits{};  ///< one for each model and counter

    friend bool operator==(const Calibrations&, const Calibrations&) = default;
};

/// Token counts of one conversation: a column per counter, kept up to date by what is added and removed.
class TokenColumns {
public:
    struct Column {
        std::shared_ptr<const TokenCounter> counter;
        std::int64_t messages = 0;  ///< sum over the messages
        std::int64_t overhead = 0;  ///< system text and tools of the last request
        Hash128 overhead_of{};      ///< fingerprint of these
        bool overhead_known = false;
        UsageFit usage{};                 ///< of the model that was asked last
        bool usage_has_overhead = false;  ///< whether our count in it has system text and tools
    };

    [[nodiscard]] std::size_t size() const noexcept { return columns_.size(); }
    [[nodiscard]] const Column& operator[](std::size_t i) const noexcept { return columns_[i]; }
    [[nodiscard]] std::optional<std::size_t> find(std::string_view counter_id) const noexcept;
    std::size_t add(std::shared_ptr<const TokenCounter> counter);
    /// Forgets all columns but the first `count`.
    void shrink_to(std::size_t count) noexcept {
        columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(count), columns_.end());
    }

    /// The counts of all messages, for a column that was added when there were some.
    void set_messages(std::size_t column, std::span<const std::int64_t> counts) noexcept;
    void add_message(const MessageInfo& info) noexcept;
    void remove_message(const MessageInfo& info) noexcept;

    /// Counts system text and tools unless they are the same as at the last call. O(their size) for the fingerprint.
    void set_overhead(std::size_t column, std::string_view system, std::span<const ToolSpec> tools);

    /// From here on requests go to that model: what was learnt of another one is kept for when that one comes back, and
    /// stands in until the first usage of this one. The first model that is named has what came before.
    void set_model(std::string_view model);
    /// What was learnt with every counter and model, for saving; `load` takes it before there are columns.
    [[nodiscard]] Calibrations calibrations() const;
    void load(Calibrations saved) noexcept;

    /// A provider said that everything up to the newest message is `reported` tokens.
    void anchor_all(std::int64_t reported) noexcept;
    /// Anchors a column that came after the provider's word: at that time it would have said `estimate`.
    void anchor(std::size_t column, std::int64_t reported, std::int64_t estimate) noexcept;

    [[nodiscard]] ContextCount context(std::size_t column) const noexcept;

private:
    [[nodiscard]] bool take_kept(Column& column) noexcept;

    std::vector<Column> columns_{};
    Calibrations kept_{};  // as loaded or put away; what a column knows of the model in force is newer
    bool knows_model_ = false;
};

}  // namespace whittle::inline v0
