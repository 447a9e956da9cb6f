// The pieces that `estimate` sees: bench/fit_estimate.py weighs them. Reads texts from standard input, each with its
// length before it (32 bits); writes for each the number of its pieces, then kind, characters, begin and end of each
// (all 32 bits).
#include "../src/tokens/splitter.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace {

void write(std::uint32_t number) { std::fwrite(&number, sizeof number, 1, stdout); }

void print_pieces(std::string_view text) {
    std::vector<std::uint32_t> numbers;
    const auto add = [&](whittle::pieces::Kind kind, std::size_t characters, std::size_t begin, std::size_t end) {
        for (const std::size_t number : {static_cast<std::size_t>(kind), characters, begin, end})
            numbers.push_back(static_cast<std::uint32_t>(number));
    };
    whittle::pieces::Splitter(text, add).run();
    write(static_cast<std::uint32_t>(numbers.size() / 4));
    std::fwrite(numbers.data(), sizeof(std::uint32_t), numbers.size(), stdout);
}

}  // namespace

int main() {
    std::uint32_t size = 0;
    while (std::fread(&size, sizeof size, 1, stdin) == 1) {
        std::string text(size, '\0');
        if (std::fread(text.data(), 1, size, stdin) != size) return 1;
        print_pieces(text);
    }
}
