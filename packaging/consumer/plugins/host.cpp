// Loads both plugins, so that all their symbols are visible to each other, and prints what they agree on.
#include <dlfcn.h>

#include <iostream>
#include <string>

namespace {

std::string run(const char* path) {
    void* const plugin = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (plugin == nullptr) return dlerror();
    auto* const call = reinterpret_cast<const char* (*)()>(dlsym(plugin, "run_plugin"));
    return call == nullptr ? dlerror() : call();
}

}  // namespace

int main() {
    const std::string one = run(ONE);
    const std::string two = run(TWO);
    std::cout << one << (one == two ? "" : ", " + two) << '\n';
    return one == two ? 0 : 1;
}
