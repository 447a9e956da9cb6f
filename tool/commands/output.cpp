#include "output.hpp"

#include "interrupt.hpp"
#include "masked.hpp"
#include "same_file.hpp"
#include "shown.hpp"
#include "system.hpp"
#include "whittle/base/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#if WHITTLE_HAVE_ZLIB
#    include <zlib.h>
#endif

namespace whittle::cli {
namespace {

constexpr std::string_view temporary_suffix = ".tmp";

/// Removes what killed runs left beside `target`, also of files that are kept for it, whose names begin with one more
/// point.
void remove_old_temporaries(const std::filesystem::path& target) {
    const std::string prefix = "." + system::text_of(target.filename()) + ".";
    const auto is_left = [&](const std::string& name) {
        return (name.starts_with(prefix) || name.starts_with("." + prefix)) && name.ends_with(temporary_suffix);
    };
    std::error_code error;
    const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        if (is_left(system::text_of(at->path().filename()))) system::remove_if_abandoned(at->path());
    }
}

}  // namespace

#if WHITTLE_HAVE_ZLIB

class OutputFile::Packer {
public:
    explicit Packer(OutputFile& out) : out_(out) {
        if (deflateInit2(&stream_, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::bad_alloc();
    }
    ~Packer() { deflateEnd(&stream_); }
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    void write(std::string_view bytes) { pump(bytes, Z_NO_FLUSH); }
    void finish() { pump({}, Z_FINISH); }

private:
    void pump(std::string_view bytes, int flush) {
        std::array<char, 65'536> packed{};
        stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(packed.data());
            stream_.avail_out = static_cast<uInt>(packed.size());
            deflate(&stream_, flush);
            out_.write_plain({packed.data(), packed.size() - stream_.avail_out});
        } while (stream_.avail_out == 0);
    }

    OutputFile& out_;
    z_stream stream_{};
};

#else

class OutputFile::Packer {
public:
    explicit Packer(OutputFile& out) {
        throw Error(Errc::not_offered,
                    fmt::format("write {}: this program was built without zlib: leave out .gz", out.path_));
    }
    void write(std::string_view) {}
    void finish() {}
};

#endif

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), target_(path_ == "-" ? path_ : resolve_links(path_)) {
    if (path_.ends_with(".gz")) packer_ = std::make_unique<Packer>(*this);
    if (path_ == "-") {
        file_ = system::standard_output;
    } else if (system::is_special(target_)) {
        file_ = system::open_to_write(target_);
        if (file_ < 0) fail(errno);
    } else {
        open_temporary();
    }
}

OutputFile::~OutputFile() {
    close_file();
    if (!temporary_.empty()) system::remove(temporary_);
}

void OutputFile::open_temporary() {
    const std::filesystem::path target = system::path_of(target_);
    remove_old_temporaries(target);
    constexpr int max_names = 1'000;
    for (int number = 0; file_ < 0; ++number) {
        if (number == max_names) fail(EEXIST);
        const auto name = fmt::format(".{}.{}-{}{}", system::text_of(target.filename()), system::process_id(), number,
                                      temporary_suffix);
        const std::string temporary = system::text_of(target.parent_path() / system::path_of(name));
        file_ = system::open_new(temporary);
        if (file_ >= 0) temporary_ = temporary;
        if (file_ < 0 && errno != EEXIST) fail(errno);
        if (file_ >= 0 && !system::claim_new(file_)) {
            temporary_.clear();
            close_file();
        }
    }
}

void OutputFile::close_file() noexcept {
    if (file_ >= 0 && file_ != system::standard_output) system::close(file_);
    file_ = -1;
}

void OutputFile::fail(int error) const {
    throw Error(Errc::storage_failed, fmt::format("write {}: {}", path_, std::generic_category().message(error)));
}

void OutputFile::write(std::string_view bytes) {
    if (bytes.empty()) return;
    packer_ ? packer_->write(bytes) : write_plain(bytes);
}

void OutputFile::write_plain(std::string_view bytes) {
    while (!bytes.empty()) {
        throw_if_interrupted();
        const std::int64_t put = system::write(file_, bytes.data(), bytes.size());
        if (put < 0 && errno != EINTR) fail(errno);
        if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
    }
}

void OutputFile::commit() {
    if (packer_) packer_->finish();
    if (temporary_.empty()) return close_file();
    if (system::close_as(std::exchange(file_, -1), temporary_, target_) != 0) fail(errno);
    temporary_.clear();
}

std::string output_text(std::string_view text, bool is_json) {
    return shown_again(is_json ? printed_json(text) : printed(text));
}

void print(std::string_view text) { print_raw(output_text(text, false)); }

void print_json(std::string_view json) { print_raw(output_text(json, true)); }

void print_raw(std::string_view text) {
    OutputFile out("-");
    out.write(text);
}

void write_error_stream(std::string_view text) noexcept {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
}

void print_note(std::string_view text) noexcept {
    try {
        const bool is_terminal = system::is_terminal(system::standard_error);  // where a line of progress may stand
        write_error_stream((is_terminal ? "\r\x1b[Kwhittle: " : "whittle: ") + shown_lines(printed(text)) + "\n");
    } catch (const std::exception&) {
        write_error_stream("whittle: out of memory\n");
    }
}

}  // namespace whittle::cli
