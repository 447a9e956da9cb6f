#include "whittle/redaction/redact_results.hpp"

#include "redacting_stream.hpp"

#include <string>

namespace whittle::inline v0::redaction {

RedactingSink::RedactingSink(const Redactor& redactor, PartSink& out) : redactor_(redactor), out_(out) {}
RedactingSink::~RedactingSink() = default;

void RedactingSink::write(std::string_view text) {
    if (!stream_) stream_ = std::make_unique<RedactingStream>(redactor_.rules(), true);
    std::string masked;
    stream_->write(text, masked);
    if (!masked.empty()) out_.write(masked);
}

void RedactingSink::push(Part part) {
    finish();
    if (part.kind != PartKind::media) part.text = redactor_.text_or_json(part.text).text;
    out_.push(std::move(part));
}

void RedactingSink::mark_stored(StoredPart stored) {
    finish();
    out_.mark_stored(std::move(stored));
}

void RedactingSink::finish() {
    if (!stream_) return;
    std::string masked;
    stream_->finish(masked);
    stream_.reset();
    if (!masked.empty()) out_.write(masked);
}

}  // namespace whittle::inline v0::redaction
