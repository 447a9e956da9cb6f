#include "works.hpp"

namespace whittle::bench {

bool grow_openai(std::string_view work, const testing::History& history) {
    return run_work(work, testing::build_all<openai::Message>(history));
}

}  // namespace whittle::bench
