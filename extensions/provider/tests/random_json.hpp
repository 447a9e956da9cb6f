// What random messages of every JSON format are made of.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

namespace whittle::testing {

class RandomJson {
public:
    using Json = nlohmann::ordered_json;

    explicit RandomJson(unsigned seed) : random_(seed) {}

    std::string text() {
        static const char* const pieces[] = {"",
                                             "a",
                                             "plain words\n",
                                             "\"\\/",
                                             "\xC3\xA9",
                                             "\xE4\xB8\xAD",
                                             "\xF0\x9F\x98\x80",
                                             "\xFF",
                                             "\xED\xA0\x80",
                                             "\xC3",
                                             "{\"a\":1}",
                                             "\x7F",
                                             "<|end|>"};
        std::string out;
        for (std::size_t n = below(4); n > 0; --n) out += pieces[below(13)];
        if (chance(20)) out += '\0';
        return out;
    }
    std::size_t below(std::size_t n) { return random_() % n; }

protected:
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

    Json value(int levels) {
        switch (below(levels > 0 ? 9 : 7)) {
            case 0: return nullptr;
            case 1: return below(100);
            case 2: return -1.25;
            case 3: return UINT64_MAX;
            case 4: return Json::array();
            case 5: return Json::object();
            case 6: return text();
            case 7: return Json::array({value(levels - 1), value(levels - 1)});
            default: return {{text(), value(levels - 1)}, {"k", value(levels - 1)}};
        }
    }

private:
    std::mt19937 random_;
};

}  // namespace whittle::testing
