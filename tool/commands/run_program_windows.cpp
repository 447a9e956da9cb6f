#if defined(_WIN32)

#    include "interrupt.hpp"
#    include "token_commands.hpp"
#    include "whittle/base/detail/windows_text.hpp"

#    include <fmt/format.h>
#    include <fmt/ranges.h>

#    if !defined(WIN32_LEAN_AND_MEAN)
#        define WIN32_LEAN_AND_MEAN
#    endif
#    if !defined(NOMINMAX)
#        define NOMINMAX
#    endif
#    include <windows.h>

#    include <array>

namespace whittle::cli {
namespace {

/// As `CommandLineToArgvW` reads it again.
std::wstring quoted(const std::wstring& argument) {
    std::wstring out = L"\"";
    std::size_t back_slashes = 0;
    for (const wchar_t c : argument) {
        if (c == L'"') out.append(back_slashes + 1, L'\\');
        back_slashes = c == L'\\' ? back_slashes + 1 : 0;
        out += c;
    }
    return out.append(back_slashes, L'\\') + L"\"";
}

/// Where a program or a script of that name is; empty: nowhere in PATH.
std::wstring found_in_path(const std::string& name) {
    const std::wstring wide = detail::to_utf16(name);
    std::wstring folders(::GetEnvironmentVariableW(L"PATH", nullptr, 0),
                         L'\0');  // without these, this folder comes first
    folders.resize(::GetEnvironmentVariableW(L"PATH", folders.data(), static_cast<DWORD>(folders.size())));
    for (const wchar_t* const ending : {L".exe", L".cmd", L".bat"}) {
        std::wstring path(MAX_PATH, L'\0');
        const DWORD size = ::SearchPathW(folders.c_str(), wide.c_str(), ending, MAX_PATH, path.data(), nullptr);
        if (size > 0 && size < MAX_PATH) return path.substr(0, size);
    }
    return {};
}

}  // namespace

/// Ctrl-C reaches every program of the console by itself.
void run_program(const std::vector<std::string>& arguments, const std::string& in) {
    const std::wstring program = found_in_path(arguments.at(0));
    if (program.empty()) throw Error(Errc::not_found, fmt::format("run {}: no such program", arguments[0]));
    std::wstring line = quoted(program);
    for (std::size_t i = 1; i < arguments.size(); ++i) line += L" " + quoted(detail::to_utf16(arguments[i]));
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = ::GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = start.hStdError = ::GetStdHandle(STD_ERROR_HANDLE);
    PROCESS_INFORMATION started{};
    const std::wstring folder = detail::to_utf16(in);
    if (::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr, folder.c_str(), &start, &started) ==
        0)
        throw Error(Errc::storage_failed, fmt::format("run {}: error {} of Windows", arguments[0], ::GetLastError()));
    ::WaitForSingleObject(started.hProcess, INFINITE);
    DWORD code = 0;
    ::GetExitCodeProcess(started.hProcess, &code);
    ::CloseHandle(started.hThread);
    ::CloseHandle(started.hProcess);
    throw_if_interrupted();
    if (code != 0)
        throw Error(Errc::storage_failed, fmt::format("run {}: exit code {}", fmt::join(arguments, " "), code));
}

}  // namespace whittle::cli

#endif
