#include <nlohmann/json.hpp>

int main() { return static_cast<int>(nlohmann::json::parse("[]").size()); }
