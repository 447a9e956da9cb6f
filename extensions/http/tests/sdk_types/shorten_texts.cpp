#include "shorten_texts.hpp"

#include "whittle/base/text.hpp"

#include <string>
#include <vector>

namespace whittle::sdk_types {

void shorten_texts(nlohmann::ordered_json& json, std::size_t most_bytes) {
    std::vector<nlohmann::ordered_json*> open{&json};
    while (!open.empty()) {
        nlohmann::ordered_json& value = *open.back();
        open.pop_back();
        if (value.is_string() && value.get_ref<std::string&>().size() > most_bytes)
            value = to_valid_utf8(value.get_ref<std::string&>().substr(0, most_bytes));
        if (value.is_structured()) {
            for (nlohmann::ordered_json& inner : value) open.push_back(&inner);
        }
    }
}

}  // namespace whittle::sdk_types
