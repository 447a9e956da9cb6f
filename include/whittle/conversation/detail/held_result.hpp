#pragma once

#include "whittle/base/detail/function_ref.hpp"
#include "whittle/conversation/tool.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// A finished result that a middleware holds to show it in another way, before it goes to the sink.
class HeldResult {
public:
    /// `own`: the middleware's storage; null: the chain's.
    HeldResult(const ToolContext& context, std::string_view by, const std::shared_ptr<Storage>& own);

    std::vector<Part> parts{};
    std::vector<StoredPart> stored{};

    [[nodiscard]] const std::shared_ptr<Storage>& storage() const noexcept { return storage_; }
    /// By the chain's counter; bytes without one.
    [[nodiscard]] std::int64_t tokens(std::string_view text) const;
    /// Stores `whole`; a refusal is told as an event, too. Throws what the store throws.
    void put(const std::string& key, const std::string& whole) const;
    /// What part `part` stands for from now on, whose whole text is stored under `key`.
    [[nodiscard]] StoredPart stored_as(std::size_t part, std::string key) const;
    /// Without a store the outcome keeps the parts as the tool gave them, unless it keeps others.
    void keep_original(ToolOutcome& outcome, const std::vector<Part>& given) const;
    /// Tells that the middleware failed with the exception in flight.
    void emit_failed() const noexcept;

private:
    const ToolContext& context_;
    std::string_view by_;
    std::shared_ptr<Storage> storage_;
};

/// Whether an argument of the call names an object of this conversation: its result shows a stored text again.
[[nodiscard]] bool shows_stored_text(const ToolContext& context);

/// Runs a tool and passes its result on, after `change`, which leaves it as it came where it throws. What either
/// throws gets out, once the result has been passed on.
ToolOutcome run_held(HeldResult& held, const ToolContext& context, PartSink& out, const ToolNext& next,
                     FunctionRef<void(ToolOutcome&)> change);

}  // namespace whittle::inline v0::detail
