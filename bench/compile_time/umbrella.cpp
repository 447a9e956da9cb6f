#include <whittle/whittle.hpp>

int main() {}
