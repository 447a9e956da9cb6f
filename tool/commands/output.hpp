#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace whittle::cli {

/// Writes a file beside its place and renames it when it is complete, so that there is the old file or the whole new
/// one; "-" is standard output, and what is no regular file is written directly. A name that ends in .gz is packed.
class OutputFile {
public:
    /// Throws Error(storage_failed) with the system's reason.
    explicit OutputFile(std::string path);
    ~OutputFile();  ///< removes what was not committed
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    void write(std::string_view bytes);
    void commit();

private:
    class Packer;

    void write_plain(std::string_view bytes);
    void open_temporary();
    void close_file() noexcept;
    [[noreturn]] void fail(int error) const;

    std::string path_;    // as the user gave it
    std::string target_;  // behind symbolic links
    std::string temporary_{};
    int file_ = -1;
    std::unique_ptr<Packer> packer_;
};

/// What `print` and `print_json` print of it: without what looks like a secret unless secrets are shown, and escaped
/// for a terminal, colours aside.
[[nodiscard]] std::string output_text(std::string_view text, bool is_json);
/// To standard output, without what looks like a secret unless secrets are shown. Throws Error(storage_failed).
void print(std::string_view text);
/// The same of JSON, which stays JSON.
void print_json(std::string_view json);
/// To standard output, byte for byte: what is of no session, or was asked for as it is, or is masked already.
void print_raw(std::string_view text);
/// To standard error as it is; failures are ignored.
void write_error_stream(std::string_view text) noexcept;
/// A line of ours on standard error, "whittle: ...", without secrets as `print` has it; the text is escaped for a
/// terminal, its line feeds aside.
void print_note(std::string_view text) noexcept;

}  // namespace whittle::cli
