#include "works.hpp"

namespace whittle::bench {

bool grow_anthropic(std::string_view work, const testing::History& history) {
    return run_work(work, testing::build_all<anthropic::Message>(history));
}

}  // namespace whittle::bench
