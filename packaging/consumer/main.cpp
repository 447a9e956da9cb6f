// The consumer that every packaging test builds: two translation units, both with the whole library. It prints the
// version of the headers, and calls compiled code that needs fmt, which the package has to bring along.
#include <iostream>
#include <whittle/whittle.hpp>

std::string describe_in_the_other_unit(const whittle::Problem& problem);

int main() {
    const whittle::Problem problem{.field = "field", .value = "value", .allowed = "allowed"};
    std::cout << WHITTLE_VERSION_STRING << '\n';
    return whittle::to_string(problem) == describe_in_the_other_unit(problem) ? 0 : 1;
}
