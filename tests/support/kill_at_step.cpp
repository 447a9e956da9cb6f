// A library to preload into a program: at the step number WHITTLE_KILL_AT of those that change files it sends the
// program the signal WHITTLE_KILL_WITH. A write is cut in half before that, all else has not happened yet.
// <unistd.h> and <cstdio> stay out: whether what they declare is noexcept, and so what is defined here, differs.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>

namespace {

int number_of(const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? 0 : std::atoi(text);
}

/// True at the step that was asked for.
bool is_due() {
    static const int due = number_of("WHITTLE_KILL_AT");
    static int steps = 0;
    return ++steps == due;
}

void send_signal() { std::raise(number_of("WHITTLE_KILL_WITH")); }

void step() {
    if (is_due()) send_signal();
}

template <typename Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, unsigned)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if ((flags & O_CREAT) != 0) step();
    return real<int (*)(const char*, int, mode_t)>("open")(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    if ((flags & O_CREAT) != 0) step();
    return real<int (*)(int, const char*, int, mode_t)>("openat")(folder, path, flags, mode);
}

ssize_t write(int file, const void* bytes, std::size_t size) {
    const auto put = real<ssize_t (*)(int, const void*, std::size_t)>("write");
    if (!is_due()) return put(file, bytes, size);
    const ssize_t half = put(file, bytes, size - size / 2);
    send_signal();
    return half;
}

int fsync(int file) {
    step();
    return real<int (*)(int)>("fsync")(file);
}

int fdatasync(int file) {
    step();
    return real<int (*)(int)>("fdatasync")(file);
}

int fchmod(int file, mode_t mode) {
    step();
    return real<int (*)(int, mode_t)>("fchmod")(file, mode);
}

int rename(const char* from, const char* to) {
    step();
    return real<int (*)(const char*, const char*)>("rename")(from, to);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
    step();
    return real<int (*)(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}

int link(const char* from, const char* to) {
    step();
    return real<int (*)(const char*, const char*)>("link")(from, to);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    step();
    return real<int (*)(int, const char*, int, const char*, int)>("linkat")(from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) {
    step();
    return real<int (*)(const char*)>("unlink")(path);
}

int unlinkat(int folder, const char* path, int flags) {
    step();
    return real<int (*)(int, const char*, int)>("unlinkat")(folder, path, flags);
}

int remove(const char* path) {
    step();
    return real<int (*)(const char*)>("remove")(path);
}
}
