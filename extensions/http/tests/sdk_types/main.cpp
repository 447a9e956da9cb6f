#include "programs.hpp"

#include <exception>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::string what = arguments.empty() ? "" : arguments[0];
    using namespace whittle::sdk_types;
    if (what == "messages") {
        print_messages(std::cout, {arguments.begin() + 1, arguments.end()});
    } else if (what == "bodies") {
        print_bodies(std::cout);
    } else if (what == "mirror") {
        print_mirror(std::cout);
    } else {
        std::cerr << "usage: messages [FILES] | bodies | mirror\n";
        return 2;
    }
    return 0;
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
