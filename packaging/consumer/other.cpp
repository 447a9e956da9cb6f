#include <whittle/whittle.hpp>

std::string describe_in_the_other_unit(const whittle::Problem& problem) { return whittle::to_string(problem); }
