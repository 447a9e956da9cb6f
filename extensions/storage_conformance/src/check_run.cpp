#include "check_run.hpp"

#include <algorithm>
#include <exception>
#include <thread>

namespace whittle::inline v0 {
namespace {

constexpr std::size_t most_failures = 20;
constexpr std::string_view probed_key = "no-such-object";

/// The place of the first byte that differs, for a message.
std::string difference(std::string_view found, std::string_view expected) {
    const auto [at, unused] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
    return fmt::format("expected {} bytes, found {}, which differ from byte {} on", expected.size(), found.size(),
                       at - found.begin());
}

}  // namespace

CheckRun::CheckRun(OpenStorage open, const StorageConformanceOptions& options)
    : open_(std::move(open)), options_(options), storage_(open_()) {
    const auto offers = [](auto&& call) { return code_of(call) != Errc::not_offered; };
    lists_ = offers([&] { storage_->list("", [](const ObjectInfo&) { return false; }); });
    removes_ = offers([&] { (void)storage_->remove(probed_key); });
    streams_ = storage_->open_writer() != nullptr;
}

void CheckRun::fail(std::string failure) {
    const std::scoped_lock lock(mutex_);
    if (failures_.size() < most_failures) failures_.push_back(std::move(failure));
}

void CheckRun::expect(bool holds, std::string_view what) {
    if (!holds) fail(std::string(what));
}

void CheckRun::expect_content(std::string_view what, const std::optional<std::string>& found,
                              std::string_view expected) {
    if (!found) {
        fail(fmt::format("{}: there is no such object", what));
    } else if (*found != expected) {
        fail(fmt::format("{}: {}", what, difference(*found, expected)));
    }
}

void CheckRun::expect_keys(std::string_view prefix, const std::vector<std::string>& expected) {
    const std::vector<std::string> found = keys(prefix);
    if (found != expected)
        fail(fmt::format("list \"{}\": expected [{}], found [{}]", prefix, fmt::join(expected, " "),
                         fmt::join(found, " ")));
}

void CheckRun::expect_bytes(std::string_view key, std::int64_t expected) {
    const auto info = storage_->stat(key);
    if (!info || info->key != key || info->bytes != expected)
        fail(fmt::format("stat \"{}\": expected {} bytes, found {}", key, expected,
                         info ? fmt::format("\"{}\" of {}", info->key, info->bytes) : "no object"));
}

void CheckRun::put(std::string_view key, std::string_view content, int pieces) {
    if (pieces == 0) return storage_->put_if_absent(key, content);
    const auto writer = storage_->open_writer();
    const std::size_t step = content.size() / static_cast<std::size_t>(pieces) + 1;
    for (std::size_t at = 0; at < content.size(); at += step) writer->write(content.substr(at, step));
    writer->commit(key);
}

std::vector<std::string> CheckRun::keys(std::string_view prefix) {
    std::vector<std::string> found;
    storage_->list(prefix, [&](const ObjectInfo& info) {
        found.push_back(info.key);
        return true;
    });
    return found;
}

void CheckRun::reopen() {
    storage_.reset();
    storage_ = open_();
}

void CheckRun::on_threads(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < options_.threads; ++t) {
        threads.emplace_back([this, &work, t] {
            try {
                work(t);
            } catch (const std::exception& error) {
                fail(fmt::format("thread {}: {}", t, error.what()));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace whittle::inline v0
