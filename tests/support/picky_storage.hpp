#pragma once

#include "whittle/base/error.hpp"
#include "whittle/storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::testing {

/// Refuses keys with `refused` in them; counts what it is asked to keep.
class PickyStorage final : public Storage {
public:
    explicit PickyStorage(std::string refused) : refused_(std::move(refused)) {}
    void put_if_absent(std::string_view key, std::string_view content) override {
        ++puts;
        if (key.find(refused_) != std::string_view::npos) throw Error(Errc::storage_failed, "put: disk full");
        inner_->put_if_absent(key, content);
    }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        return inner_->get(key, offset, max_bytes);
    }

    int puts = 0;

private:
    std::string refused_;
    std::shared_ptr<Storage> inner_ = memory_storage();
};

}  // namespace whittle::testing
