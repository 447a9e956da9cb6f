// A store of one's own: two functions are enough, and the conformance suite says what they do not keep.
#include <whittle/storage_conformance/storage_conformance.hpp>
#include <whittle/whittle.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <mutex>

using namespace whittle;

class MapStorage final : public Storage {
public:
    void put_if_absent(std::string_view key, std::string_view content) override {
        require_valid_key("put", key);
        const std::scoped_lock lock(mutex_);
        const auto [at, is_new] = objects_.emplace(key, content);
        if (!is_new && at->second.size() != content.size())  // a bug: the content may differ, too
            throw Error(Errc::already_exists, "put \"" + std::string(key) + "\": the key exists with other content");
    }

    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        require_valid_key("get", key);
        if (offset < 0 || max_bytes < 0) throw Error(Errc::invalid_argument, "get: a negative range");
        const std::scoped_lock lock(mutex_);
        const auto found = objects_.find(std::string(key));
        if (found == objects_.end()) return std::nullopt;
        const auto size = static_cast<std::int64_t>(found->second.size());
        return found->second.substr(static_cast<std::size_t>(std::min(offset, size)),
                                    static_cast<std::size_t>(std::min(max_bytes, size)));
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> objects_;
};

int main() {
    std::map<StorageCheckOutcome, int> checks;
    const auto print_result = [&](const StorageCheckResult& check) {
        ++checks[check.outcome];
        if (check.outcome == StorageCheckOutcome::failed) std::cout << to_string(check) << '\n';
    };
    // [check]
    const bool passed = check_storage_conformance(
        [] { return [store = std::make_shared<MapStorage>()] { return store; }; }, print_result);
    // [/check]
    std::cout << checks[StorageCheckOutcome::passed] << " passed, " << checks[StorageCheckOutcome::failed]
              << " failed, " << checks[StorageCheckOutcome::not_offered] << " not offered\n";
    return passed ? 1 : 0;  // the bug has to be found
}
