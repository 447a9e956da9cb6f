#include "read_back.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/event.hpp"

#include <exception>

namespace whittle::inline v0::detail {

std::optional<std::string> problem_of(FunctionRef<void()> work) {
    try {
        work();
        return std::nullopt;
    } catch (const Error& error) {
        if (error.errc() == Errc::cancelled) throw;
        return error.what();
    } catch (const std::exception& error) {  // of a backend that is not ours
        return error.what();
    }
}

void tell_read_back(const ToolContext& context, std::string_view tool, const std::string& text) {
    if (context.events == nullptr) return;
    emit(*context.events, {.source = tool, .kind = "read_back", .text = text, .conversation = context.conversation});
}

}  // namespace whittle::inline v0::detail
