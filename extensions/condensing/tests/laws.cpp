// Condensing, on histories whose results are JSON, logs, diffs, pages and tables, held to every law on every message
// type.
#include "support/generators_hostile.hpp"

#include "support/laws.hpp"
#include "whittle/condensing/condensing.hpp"
#include "whittle/reduction/reduction.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

/// However short a result is, and however little its form saves.
CondensingConfig condensing_all() {
    return {.min_bytes = 20,
            .min_gain = 0.0,
            .condense_file_reads = true,
            .max_lossless_json_bytes = 200,
            .cut_above_rows = 6,
            .head_rows = 2,
            .tail_rows = 1,
            .max_outliers = 2,
            .max_string_bytes = 16};
}

std::string in_format(std::size_t format, const std::string& text, std::size_t rows) {
    std::string plain;
    for (const char c : text.substr(0, 60)) plain += c >= 'a' && c <= 'z' ? c : 'x';
    std::string out = format == 0 ? "[" : format == 1 ? "name,size,state\n" : format == 2 ? "<html><body>" : "";
    if (format == 3) out = "--- a/f\n+++ b/f\n@@ -1," + std::to_string(rows) + " +1," + std::to_string(rows) + " @@\n";
    for (std::size_t i = 0; i < rows; ++i) {
        const std::string number = std::to_string(i * 7);
        if (format == 0)
            out += (i > 0 ? ",\n  " : "\n  ") + std::string("{\"number\": ") + number + ", \"is\": \"" + plain + "\"}";
        if (format == 1) out += plain + "," + number + ",ok\n";
        if (format == 2) out += "<p class=\"a long name\">" + plain + " <b>" + number + "</b></p>";
        if (format == 3) out += i == rows / 2 ? "-" + plain + "\n+" + number + "\n" : " " + plain + "\n";
        if (format == 4) out += "10:00:01 INFO " + plain + " " + number + "\n";
    }
    return out + (format == 0 ? "\n]" : "");
}

/// The history with its results in all the formats.
History with_formats(History history, std::uint64_t seed) {
    Dice dice(seed);
    for (ChatMessage& message : history) {
        for (Part& part : message.parts) {
            if (part.kind == PartKind::tool_result && !dice.one_in(5))
                part.text = in_format(dice.below(5), part.text, 1 + dice.below(30));
        }
    }
    return history;
}

template <typename Make>
void check_laws_on_formats(Make make, const LawOptions& options) {
    for_each_message_type([&](auto type) {
        using M = MessageOf<decltype(type)>;
        const Subject<M> subject = subject_of<M>(make, options);
        for (const Law<M>& law : all_laws<M>()) {
            if (law.id == "L11") continue;  // forged notices: above
            for (std::uint64_t seed = 0; seed < 4; seed += every(2)) {
                HistoryOptions history = law.history;
                history.broken = seed % 2 == 1;
                INFO(Builder<M>::name << ", " << law.id << ", history " << seed);
                const Failures failures = law.check(subject, with_formats(generate_history(seed, history), seed));
                CHECK(failures == Failures{});
            }
        }
    });
}

}  // namespace

// What is shown follows words, not sizes alone.
WHITTLE_LAWS("condensing", [](auto type) { return Condensing<MessageOf<decltype(type)>>{condensing_all()}; },
             {.looks_at_sizes_only = false})
WHITTLE_LAWS("condensing as it is made, in Chinese", [](auto type) { return Condensing<MessageOf<decltype(type)>>{}; },
             {.language = Language::chinese, .looks_at_sizes_only = false})

TEST_CASE("condensing keeps the laws on results of every format", "[laws]") {
    check_laws_on_formats([](auto type) { return Condensing<MessageOf<decltype(type)>>{condensing_all()}; },
                          {.looks_at_sizes_only = false});
}

TEST_CASE("condensing without a store keeps the laws on results of every format", "[laws]") {
    check_laws_on_formats([](auto type) { return Condensing<MessageOf<decltype(type)>>{condensing_all()}; },
                          {.with_storage = false, .looks_at_sizes_only = false});
}

TEST_CASE("condensing in front of clearing keeps the laws on results of every format", "[laws]") {
    check_laws_on_formats(
        [](auto type) {
            using M = MessageOf<decltype(type)>;
            return Stages<M>{std::make_shared<Condensing<M>>(condensing_all()),
                             std::make_shared<Reduction<M>>(
                                 ReductionConfig{.max_length_for_trunc = 400, .max_tokens_for_clear = 200})};
        },
        {.looks_at_sizes_only = false});
}

TEST_CASE("condensing keeps the laws on histories of every hostile shape", "[laws]") {
    for_each_message_type([](auto type) {
        using M = MessageOf<decltype(type)>;
        const Subject<M> subject =
            subject_of<M>([](auto t) { return Condensing<MessageOf<decltype(t)>>{condensing_all()}; },
                          {.looks_at_sizes_only = false});
        for (const HostileShape& shape : hostile_shapes()) {
            const History history = with_formats(shape.make(12), 1);
            for (const std::string_view id : {"L1", "L2", "L3", "L4", "L5", "L6", "L7"}) {
                INFO(Builder<M>::name << ", " << shape.name << ", " << id);
                const Failures failures = law<M>(id).check(subject, history);
                CHECK(failures == Failures{});
            }
        }
    });
}
