#include "redacted_writer.hpp"

#include "redacting_stream.hpp"
#include "redaction_note.hpp"
#include "whittle/storage/detail/holding_writer.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace whittle::inline v0::redaction {
namespace {

/// A stream that has grown too large to be masked as a whole.
class LongRedaction {
public:
    LongRedaction(std::shared_ptr<StorageWriter> out, const CompiledRedactionRules& rules)
        : out_(std::move(out)), stream_(rules, true) {}

    void write(std::string_view chunk) {
        std::string masked;
        stream_.write(chunk, masked);
        pass_on(masked);
    }

    void commit(std::string_view key) {
        require_valid_key("put", key);
        if (!std::exchange(is_finished_, true)) {
            std::string masked;
            stream_.finish(masked);
            pass_on(masked);
            if (!stream_.places().empty() || redaction_note(end_)) out_->write(note_of(stream_.places()));
        }
        out_->commit(key);
    }

private:
    void pass_on(std::string_view masked) {
        if (masked.empty()) return;
        out_->write(masked);
        end_ += masked;
        constexpr auto kept = static_cast<std::size_t>(note_bytes);
        if (end_.size() > kept) end_.erase(0, end_.size() - kept);
    }

    std::shared_ptr<StorageWriter> out_;
    RedactingStream stream_;
    std::string end_{};  // of what was written
    bool is_finished_ = false;
};

}  // namespace

std::unique_ptr<StorageWriter> redacted_writer(Storage& inner, Redactor redactor, std::shared_ptr<Storage> whole) {
    std::shared_ptr<StorageWriter> out = inner.open_writer();
    if (!out) return nullptr;
    return std::make_unique<HoldingWriter<LongRedaction>>(
        largest_whole, std::move(whole), [out = std::move(out), redactor = std::move(redactor)] {
            return std::make_unique<LongRedaction>(out, redactor.rules());
        });
}

}  // namespace whittle::inline v0::redaction
