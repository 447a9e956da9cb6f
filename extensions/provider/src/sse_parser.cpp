#include "whittle/provider/sse_parser.hpp"

#include "whittle/model/model.hpp"

#include <algorithm>

namespace whittle::inline v0 {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

[[noreturn]] void refuse(std::string_view what, std::size_t limit) {
    throw ModelError(ModelErrorClass::bad_request,
                     "read event stream: " + std::string(what) + " is longer than " + std::to_string(limit) + " bytes");
}

}  // namespace

void SseParser::feed(std::string_view bytes, Sink sink) {
    bytes = without_mark(bytes);
    while (!bytes.empty()) {
        if (after_cr_ && bytes.front() == '\n') bytes.remove_prefix(1);
        after_cr_ = false;
        const std::size_t end = bytes.find_first_of("\r\n");
        if (end == std::string_view::npos) return keep(bytes);
        after_cr_ = bytes[end] == '\r';
        const std::string_view line = bytes.substr(0, end);
        bytes.remove_prefix(end + 1);
        if (line_.empty()) {
            take_line(line, sink);
            continue;
        }
        keep(line);
        take_line(line_, sink);
        line_.clear();
    }
}

bool SseParser::ends_cleanly() noexcept { return line_.empty() && !has_data_; }

/// The mark may come byte by byte: what looked like its beginning and is not belongs to the first line.
std::string_view SseParser::without_mark(std::string_view bytes) {
    while (mark_bytes_ < byte_order_mark.size() && !bytes.empty()) {
        if (bytes.front() != byte_order_mark[mark_bytes_]) {
            line_.append(byte_order_mark.substr(0, mark_bytes_));
            mark_bytes_ = byte_order_mark.size();
            break;
        }
        bytes.remove_prefix(1);
        ++mark_bytes_;
    }
    return bytes;
}

void SseParser::keep(std::string_view part) {
    if (part.size() > limits_.max_line_bytes - std::min(limits_.max_line_bytes, line_.size()))
        refuse("a line", limits_.max_line_bytes);
    line_.append(part);
}

void SseParser::take_line(std::string_view line, Sink sink) {
    if (line.size() > limits_.max_line_bytes) refuse("a line", limits_.max_line_bytes);
    if (line.empty()) return dispatch(sink);
    const std::size_t colon = line.find(':');
    if (colon == 0) return;  // a comment
    if (colon == std::string_view::npos) return take_field(line, {});
    std::string_view value = line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    take_field(line.substr(0, colon), value);
}

void SseParser::take_field(std::string_view name, std::string_view value) {
    if (name == "data") {
        if (data_.size() + value.size() + 1 > limits_.max_event_bytes) refuse("an event", limits_.max_event_bytes);
        if (has_data_) data_ += '\n';
        data_ += value;
        has_data_ = true;
    } else if (name == "event") {
        event_ = value;
    } else if (name == "id" && value.find('\0') == std::string_view::npos) {
        id_ = value;
    }
}

void SseParser::dispatch(Sink sink) {
    if (has_data_) sink({event_, data_, id_});
    event_.clear();
    data_.clear();
    has_data_ = false;
}

}  // namespace whittle::inline v0
