#include "memory_store.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::cli {
namespace {

/// Objects in memory that are called what they would be in the configured store, so that requests are the same.
class MemoryNamedAs final : public Storage {
public:
    explicit MemoryNamedAs(const StorageSettings& settings) {
        const auto* file = std::any_cast<FileStoreConfig>(&settings.config);
        if (file == nullptr) return;
        shown_root_ = file->shown_root;
        if (shown_root_.empty()) shown_root_ = std::filesystem::weakly_canonical(file->root).string();
    }

    void put_if_absent(std::string_view key, std::string_view content) override {
        memory_->put_if_absent(key, content);
    }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        return memory_->get(key, offset, max_bytes);
    }
    std::unique_ptr<StorageWriter> open_writer() override { return memory_->open_writer(); }
    std::optional<ObjectInfo> stat(std::string_view key) override { return memory_->stat(key); }
    void list(std::string_view prefix, const std::function<bool(const ObjectInfo&)>& visit) override {
        memory_->list(prefix, visit);
    }
    bool remove(std::string_view key) override { return memory_->remove(key); }
    std::string locate(std::string_view key) const override {
        return shown_root_.empty() ? memory_->locate(key) : fmt::format("{}/{}", shown_root_, key);
    }

private:
    std::shared_ptr<Storage> memory_ = memory_storage();
    std::string shown_root_{};  // empty: objects are called by their keys
};

}  // namespace

ChainSettings with_memory_storage(ChainSettings settings) {
    StorageSettings named_as = settings.storage_settings;
    for (StageSettings& stage : settings.stages) {
        for (const auto& [key, storage] : stage.storages) {
            if (named_as.type.empty()) named_as = storage;
        }
        stage.storages.clear();
    }
    if (!named_as.type.empty()) settings.config.storage = std::make_shared<MemoryNamedAs>(named_as);
    return settings;
}

}  // namespace whittle::cli
