// Needs whittle::json: its include directories must carry nlohmann_json.
#include <nlohmann/json.hpp>

int json_is_there() { return nlohmann::json::parse("1").get<int>(); }
