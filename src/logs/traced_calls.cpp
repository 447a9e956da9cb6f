#include "traced_calls.hpp"

#include <algorithm>

namespace whittle::inline v0::logs {

void TracedCalls::finish(ExchangeList&& list, FunctionRef<void(Session&&)> visit) {
    std::ranges::stable_sort(calls_, {}, &TracedCall::time);
    for (const TracedCall& call : calls_)
        list.add({.request = &call.request,
                  .response = call.response.is_object() ? &call.response : nullptr,
                  .time = call.time,
                  .line = call.line,
                  .usage = call.usage});
    list.finish(visit);
}

}  // namespace whittle::inline v0::logs
