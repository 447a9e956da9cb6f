// A tool result that is cut on arrival.
#include "../tool_run.hpp"
#include "row.hpp"

#include <whittle/whittle.hpp>

namespace whittle::bench {
namespace {

constexpr int results = 100;
constexpr std::size_t limit = 2'000;

std::string shown_of(const Chain<>& chain, const std::string& name, std::string_view text) {
    CollectingSink shown;
    run_tool(chain, name, shown, [&](PartSink& out) { out.write(text); });
    return shown.take().front().text;
}

/// Head, notice and tail by themselves: the text is stored and its lines are counted while it comes.
double seconds_of_cut_alone(std::string_view text) {
    constexpr int cuts = 10'000;
    std::size_t bytes = 0;
    const double seconds = seconds_of([&] {
        for (int i = 0; i < cuts; ++i) {
            const std::string_view head = grapheme_prefix(text, limit / 2);
            const std::string_view tail = grapheme_suffix(text, limit / 2);
            std::string shown(head);
            shown += truncation_notice({.tool = "read",
                                        .bytes = static_cast<std::int64_t>(text.size()),
                                        .lines = 17,
                                        .head = static_cast<std::int64_t>(head.size()),
                                        .tail = static_cast<std::int64_t>(tail.size()),
                                        .location = "bench/trunc/call_1"},
                                       Language::english);
            shown += tail;
            bytes += shown.size();
        }
    });
    return bytes > cuts * limit ? seconds / cuts : 0;
}

}  // namespace

/// The check is the number of texts that were cut and are whole in the store.
Row cut(std::size_t bytes) {
    ReductionConfig config;
    config.max_length_for_trunc = limit;
    ChainConfig chain_config;
    chain_config.storage = memory_storage();
    const Chain chain{std::move(chain_config), Reduction{config}};
    const std::string text = lines_of(bytes);
    std::vector<std::string> shown(results);
    const long before = allocations_so_far();
    Row row;
    row.seconds = seconds_of([&] {
                      for (std::size_t i = 0; i < shown.size(); ++i)
                          shown[i] = shown_of(chain, "call_" + std::to_string(i), text);
                  }) /
                  results;
    row.allocations = (allocations_so_far() - before) / results;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const auto stored = chain.config().storage->get("bench/trunc/call_" + std::to_string(i));
        if (stored && *stored == text && shown[i].size() < 2 * limit) ++row.check;
    }
    row.more = {{"seconds_cut_alone", seconds_of_cut_alone(text)}};
    return row;
}

}  // namespace whittle::bench
