// Compiled as C++17.
#include <whittle/boundary/boundary.hpp>

std::string hooked() {
    whittle::boundary::Context context;
    context.push(R"({"role":"user","content":"Hi."})");
    return context.prepare_messages();
}
