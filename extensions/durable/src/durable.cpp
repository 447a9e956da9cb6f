#include "whittle/durable/durable.hpp"

#include "whittle/base/detail/names.hpp"

#include <fmt/format.h>

#include <utility>

namespace whittle::inline v0 {

namespace detail {

void check_durable(const DurableOptions& options, std::string_view id) {
    Problems problems;
    if (!options.writer.empty() && !is_safe_name(options.writer))
        problems.error("writer", options.writer, "a safe name, or empty");
    if (options.lease_seconds < 1) problems.error("lease_seconds", std::to_string(options.lease_seconds), "1 or more");
    if (options.snapshot_after_bytes < 1)
        problems.error("snapshot_after_bytes", std::to_string(options.snapshot_after_bytes), "1 or more");
    if (!is_safe_name(options.root)) problems.error("root", options.root, "a safe name");
    if (!options.clock || !options.ids) problems.error("clock, ids", "null", "a clock and a source of ids");
    problems.throw_if_errors("open a durable conversation");
    if (id == options.root) {
        throw Error(Errc::invalid_argument,
                    fmt::format("open conversation \"{}\": logs lie below that name, which it could read", id));
    }
}

DurableOptions complete(DurableOptions options, const std::shared_ptr<Storage>& storage) {
    if (!storage) throw Error(Errc::invalid_argument, "open a durable conversation: no storage");
    if (options.writer.empty()) options.writer = options.ids->next();
    if (!options.objects) options.objects = storage;
    return options;
}

LogOptions log_options(const DurableOptions& options) {
    return {.root = options.root,
            .writer = options.writer,
            .lease_ms = std::int64_t{1'000} * options.lease_seconds,
            .clock = options.clock,
            .ids = options.ids};
}

}  // namespace detail

std::uint64_t compact_durable_log(Storage& storage, std::string_view id, const DurableOptions& options) {
    const std::string name = to_safe_name(id);
    detail::check_durable(options, name);
    return detail::compact_log(storage, options.root, name);
}

}  // namespace whittle::inline v0
