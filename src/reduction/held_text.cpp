#include "held_text.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/conversation/detail/planned_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace whittle::inline v0::detail {

HeldText::HeldText(const HeldTextLimits& limits, std::shared_ptr<Storage> storage)
    : limits_(limits), storage_(std::move(storage)) {}

void HeldText::append(std::string_view chunk) {
    if (chunk.empty()) return;
    line_feeds_ += count_line_feeds(chunk);
    ends_in_line_ = chunk.back() != '\n';
    size_ += static_cast<std::int64_t>(chunk.size());
    spill(chunk);
    const std::size_t room = std::min(chunk.size(), limits_.keep - std::min(limits_.keep, front_.size()));
    front_.append(chunk.substr(0, room));
    keep_end(chunk.substr(room));
}

void HeldText::keep_end(std::string_view chunk) {
    if (chunk.size() >= limits_.tail) {
        recent_.assign(chunk.substr(chunk.size() - limits_.tail));
        return;
    }
    if (recent_.size() + chunk.size() > 2 * limits_.tail)
        recent_.erase(0, recent_.size() + chunk.size() - limits_.tail);
    recent_.append(chunk);
}

/// `front_` still is all that came before `chunk` when the text first gets long.
void HeldText::spill(std::string_view chunk) {
    if (!storage_ || cannot_stream_ || !failure_.empty()) return;
    try {
        if (!writer_) {
            if (size_ <= static_cast<std::int64_t>(limits_.spill)) return;
            writer_ = storage_->open_writer();
            cannot_stream_ = writer_ == nullptr;
            if (cannot_stream_) {
                limits_.keep = std::max(limits_.keep, limits_.hold);
                return;
            }
            writer_->write(front_);
        }
        writer_->write(chunk);
    } catch (const std::exception& error) {
        fail(error.what());
    }
}

void HeldText::fail(std::string_view why) {
    failure_ = why.empty() ? "unknown reason" : why;
    writer_.reset();
}

std::string HeldText::end() const {
    if (recent_.size() >= limits_.tail) return recent_;
    const std::size_t missing = std::min(front_.size(), limits_.tail - recent_.size());
    return front_.substr(front_.size() - missing) + recent_;
}

std::optional<std::string> HeldText::store(const std::string& key) {
    if (!key_.empty()) return key_;
    if (!storage_) fail("there is no store");
    if (cannot_stream_ && !is_whole())
        fail(fmt::format("the backend cannot stream, and it has more than the {} bytes that are held", limits_.keep));
    if (!failure_.empty()) return std::nullopt;
    try {
        key_ = writer_ ? write_to_free_key(key, [&](const std::string& free) { writer_->commit(free); })
                       : put_to_free_key(*storage_, key, front_);
        writer_.reset();
        return key_;
    } catch (const std::exception& error) {
        fail(error.what());
        return std::nullopt;
    }
}

}  // namespace whittle::inline v0::detail
