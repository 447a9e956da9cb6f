// A program that is C++17, and is not made C++20 by what it links.
#include <iostream>
#include <whittle/boundary/boundary.hpp>

static_assert(__cplusplus == 201703L, "C++17");

int main() {
    whittle::boundary::Context context;
    context.push("{\"role\":\"user\",\"content\":\"hello\"}");
    std::cout << context.prepare_messages() << std::endl;
}
