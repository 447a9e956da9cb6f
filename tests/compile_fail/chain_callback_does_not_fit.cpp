// expect: this function does not fit the callback that `Member` names
// expect: chain_callback::on_report
#include <whittle/reduction/reduction.hpp>

const whittle::Chain<> chain{{}, {.on_report = [](int) {}}, whittle::Reduction<>{}};
