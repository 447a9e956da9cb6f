#include "unpacker.hpp"

#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <new>
#include <utility>

#if WHITTLE_HAVE_ZLIB
#    include <zlib.h>
#endif
#if WHITTLE_HAVE_ZSTD
#    include <zstd.h>
#endif

namespace whittle::cli {

PackedInput::PackedInput(std::string name, std::string_view form, std::string start, const InputLimits& limits,
                         std::function<std::size_t(char*, std::size_t)> read)
    : name_(std::move(name)),
      form_(form),
      limits_(limits),
      read_some_(std::move(read)),
      bytes_(std::move(start)),
      read_(bytes_.size()) {}

std::string_view PackedInput::next() {
    constexpr std::size_t packed_block = 1U << 16U;
    if (std::exchange(is_start_, false)) return bytes_;
    bytes_.resize(packed_block);
    bytes_.resize(read_some_(bytes_.data(), bytes_.size()));
    read_ += bytes_.size();
    return bytes_;
}

void PackedInput::count_unpacked(std::size_t bytes, std::size_t packed_left) {
    unpacked_ += bytes;
    if (limits_.max_ratio == 0 || unpacked_ <= InputLimits::free_bytes) return;
    if (unpacked_ / limits_.max_ratio <= read_ - packed_left) return;
    throw Error(Errc::parse_failed,
                fmt::format("{}: expected {} data that becomes at most {} times as large, found more: if it is what it "
                            "should be, say so with --max-ratio",
                            name_, form_, limits_.max_ratio));
}

void PackedInput::fail(std::size_t packed_left, std::string_view found) const {
    throw Error(Errc::parse_failed, fmt::format("{}: packed byte {}: expected {} data, found {}", name_,
                                                read_ - packed_left, form_, found));
}

namespace {

#if WHITTLE_HAVE_ZLIB

class GzipUnpacker final : public Unpacker {
public:
    explicit GzipUnpacker(PackedInput input) : input_(std::move(input)) {
        take(input_.next());
        if (inflateInit2(&stream_, MAX_WBITS + 16) != Z_OK) throw std::bad_alloc();
    }
    ~GzipUnpacker() override { inflateEnd(&stream_); }
    GzipUnpacker(const GzipUnpacker&) = delete;
    GzipUnpacker& operator=(const GzipUnpacker&) = delete;

    std::size_t read(char* to, std::size_t size) override {
        stream_.next_out = reinterpret_cast<Bytef*>(to);
        stream_.avail_out = static_cast<uInt>(size);
        while (stream_.avail_out == size) {
            if (stream_.avail_in == 0) {
                take(input_.next());
                if (stream_.avail_in == 0 && is_inside_) input_.fail(0, "the end");
                if (stream_.avail_in == 0) return 0;
            }
            step();
        }
        input_.count_unpacked(size - stream_.avail_out, stream_.avail_in);
        return size - stream_.avail_out;
    }

private:
    void take(std::string_view packed) {
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
        stream_.avail_in = static_cast<uInt>(packed.size());
    }

    void step() {
        const int result = inflate(&stream_, Z_NO_FLUSH);
        is_inside_ = result != Z_STREAM_END;
        if (result == Z_STREAM_END) inflateReset(&stream_);  // members may follow each other
        if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return;
        input_.fail(stream_.avail_in, stream_.msg == nullptr ? "something else" : stream_.msg);
    }

    PackedInput input_;
    z_stream stream_{};
    bool is_inside_ = true;
};

#endif

#if WHITTLE_HAVE_ZSTD

class ZstdUnpacker final : public Unpacker {
public:
    explicit ZstdUnpacker(PackedInput input) : input_(std::move(input)), stream_(ZSTD_createDStream()) {
        if (!stream_) throw std::bad_alloc();
        take(input_.next());
    }

    std::size_t read(char* to, std::size_t size) override {
        ZSTD_outBuffer out{to, size, 0};
        while (out.pos == 0) {
            if (packed_.pos == packed_.size && !has_more_) {
                take(input_.next());
                if (packed_.size == 0 && is_inside_) input_.fail(0, "the end");
                if (packed_.size == 0) return 0;
            }
            const std::size_t result = ZSTD_decompressStream(stream_.get(), &out, &packed_);
            if (ZSTD_isError(result) != 0) input_.fail(packed_.size - packed_.pos, ZSTD_getErrorName(result));
            is_inside_ = result != 0;  // frames may follow each other
            has_more_ = out.pos == out.size;
        }
        input_.count_unpacked(out.pos, packed_.size - packed_.pos);
        return out.pos;
    }

private:
    struct Free {
        void operator()(ZSTD_DStream* stream) const noexcept { ZSTD_freeDStream(stream); }
    };

    void take(std::string_view packed) { packed_ = {packed.data(), packed.size(), 0}; }

    PackedInput input_;
    std::unique_ptr<ZSTD_DStream, Free> stream_;
    ZSTD_inBuffer packed_{};
    bool is_inside_ = true;
    bool has_more_ = false;  // the last output was full: there may be more without input
};

#endif

[[maybe_unused, noreturn]] void refuse_packed(const std::string& name, std::string_view form, std::string_view library,
                                              std::string_view command) {
    throw Error(Errc::not_offered,
                fmt::format("read {}: it is {} data, and this program was built without {}: unpack it "
                            "first ({} -dc FILE | whittle ... -)",
                            name, form, library, command));
}

}  // namespace

#if WHITTLE_HAVE_ZLIB
std::unique_ptr<Unpacker> unpack_gzip(PackedInput input, const std::string&) {
    return std::make_unique<GzipUnpacker>(std::move(input));
}
#else
std::unique_ptr<Unpacker> unpack_gzip(PackedInput, const std::string& name) {
    refuse_packed(name, "gzip", "zlib", "gzip");
}
#endif

#if WHITTLE_HAVE_ZSTD
std::unique_ptr<Unpacker> unpack_zstd(PackedInput input, const std::string&) {
    return std::make_unique<ZstdUnpacker>(std::move(input));
}
#else
std::unique_ptr<Unpacker> unpack_zstd(PackedInput, const std::string& name) {
    refuse_packed(name, "zstd", "libzstd", "zstd");
}
#endif

}  // namespace whittle::cli
