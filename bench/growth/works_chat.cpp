#include "works.hpp"

namespace whittle::bench {

bool grow_chat(std::string_view work, const testing::History& history) { return run_work(work, history); }

}  // namespace whittle::bench
