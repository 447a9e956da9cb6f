#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

// The calls of the system that the tool needs beside the standard library: system_posix.cpp, system_windows.cpp. A call
// that fails gives -1 and sets `errno`. Texts are UTF-8.

namespace whittle::cli::system {

inline constexpr int standard_input = 0;
inline constexpr int standard_output = 1;
inline constexpr int standard_error = 2;

/// Bytes as they are on the standard streams, UTF-8 and colours on a console. The arguments, which Windows gives in
/// another encoding. Called first.
[[nodiscard]] std::vector<std::string> set_up(int argc, char** argv);

/// Fails with EISDIR for a directory. Waits for the writer of a FIFO.
[[nodiscard]] int open_to_read(const std::string& path);
[[nodiscard]] int open_to_write(const std::string& path);
/// Fails with EEXIST if there is one.
[[nodiscard]] int open_new(const std::string& path);
[[nodiscard]] std::int64_t read(int file, void* to, std::size_t size) noexcept;
[[nodiscard]] std::int64_t write(int file, const void* bytes, std::size_t size) noexcept;
void close(int file) noexcept;
/// Of a regular file; 0 for what is none.
[[nodiscard]] std::uint64_t size_of(int file) noexcept;

/// A new file that `remove_if_abandoned` leaves alone until it is closed. False if that took its name away meanwhile.
[[nodiscard]] bool claim_new(int file) noexcept;
/// Removes a file that its writer left behind; on Windows, which has no lock to tell that, after an hour.
void remove_if_abandoned(const std::filesystem::path& file) noexcept;
void remove(const std::string& path) noexcept;
/// Brings what was written to the disk, closes the file, and gives it the name of another, with the permissions that
/// one had where the system has such. Closed also if it fails.
[[nodiscard]] int close_as(int file, const std::string& path, const std::string& new_path) noexcept;

/// A path of the standard library, which may take another encoding on Windows, and back.
[[nodiscard]] std::filesystem::path path_of(const std::string& text);
[[nodiscard]] std::string text_of(const std::filesystem::path& path);
/// A pipe, a terminal, a device: nothing that could be replaced by renaming.
[[nodiscard]] bool is_special(const std::string& path);
[[nodiscard]] bool can_write_in(const std::string& folder);
[[nodiscard]] bool is_terminal(int file) noexcept;
/// Of the terminal; 0: it is none, or does not say.
[[nodiscard]] std::size_t columns(int file) noexcept;
[[nodiscard]] bool to_local_time(std::time_t time, std::tm& calendar) noexcept;
[[nodiscard]] bool to_utc(std::time_t time, std::tm& calendar) noexcept;
[[nodiscard]] int process_id() noexcept;
/// Of this program, without links; empty: the system does not say it.
[[nodiscard]] std::filesystem::path program_path();

}  // namespace whittle::cli::system
