#pragma once

#include "whittle/base/error.hpp"
#include "whittle/storage_conformance/storage_conformance.hpp"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <utility>

namespace whittle::inline v0 {

/// What one check works with: a new store, and where it tells what is broken. Findings may come from any thread.
class CheckRun {
public:
    CheckRun(OpenStorage open, const StorageConformanceOptions& options);

    [[nodiscard]] Storage& storage() noexcept { return *storage_; }
    [[nodiscard]] std::shared_ptr<Storage> open() const { return open_(); }
    [[nodiscard]] const StorageConformanceOptions& options() const noexcept { return options_; }

    [[nodiscard]] bool lists() const noexcept { return lists_; }
    [[nodiscard]] bool removes() const noexcept { return removes_; }
    [[nodiscard]] bool streams() const noexcept { return streams_; }

    void fail(std::string failure);
    void expect(bool holds, std::string_view what);
    void expect_content(std::string_view what, const std::optional<std::string>& found, std::string_view expected);
    void expect_keys(std::string_view prefix, const std::vector<std::string>& expected);
    void expect_bytes(std::string_view key, std::int64_t expected);
    /// `action` throws an Error of this code.
    template <typename Action>
    void expect_error(std::string_view what, Errc expected, Action&& action);

    /// By a put, or by a writer in `pieces` pieces.
    void put(std::string_view key, std::string_view content, int pieces = 0);
    [[nodiscard]] std::vector<std::string> keys(std::string_view prefix);
    /// Closes the store and opens it again.
    void reopen();

    /// Work for each of the threads, at once; what it throws is a failure.
    void on_threads(const std::function<void(int thread)>& work);

    [[nodiscard]] std::vector<std::string> take_failures() noexcept { return std::move(failures_); }

private:
    OpenStorage open_;
    const StorageConformanceOptions& options_;
    std::shared_ptr<Storage> storage_;
    bool lists_;
    bool removes_;
    bool streams_;
    std::mutex mutex_;
    std::vector<std::string> failures_;
};

/// The code of the Error that `action` throws, nullopt if it throws none.
template <typename Action>
std::optional<Errc> code_of(Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        return error.errc();
    }
    return std::nullopt;
}

template <typename Action>
void CheckRun::expect_error(std::string_view what, Errc expected, Action&& action) {
    const std::optional<Errc> found = code_of(action);
    if (found != expected)
        fail(fmt::format("{}: expected {}, found {}", what, to_string(expected),
                         found ? to_string(*found) : "no error"));
}

enum class CheckNeeds { nothing, listing, removal, listing_and_removal, streams };

struct StorageCheck {
    std::string_view name{};
    CheckNeeds needs = CheckNeeds::nothing;
    void (*run)(CheckRun&) = nullptr;
};

using StorageChecks = std::vector<StorageCheck>;

[[nodiscard]] StorageChecks checks_of_objects();
[[nodiscard]] StorageChecks checks_of_keys();
[[nodiscard]] StorageChecks checks_of_writers();
[[nodiscard]] StorageChecks checks_of_listing();
[[nodiscard]] StorageChecks checks_of_sizes();
[[nodiscard]] StorageChecks checks_of_sharing();

}  // namespace whittle::inline v0
