// Stores that break one promise each: the suite has to tell which.
#include "whittle/storage_conformance/storage_conformance.hpp"

#include "broken_storage.hpp"
#include "support/storage_tools.hpp"

#include <algorithm>
#include <set>

using namespace whittle;
using testing::BrokenStorage;
using testing::errc_of;
using testing::Fault;

namespace {

struct Findings {
    bool kept = false;
    std::set<std::string> broken{};
    std::set<std::string> not_offered{};
    std::string text{};
};

Findings findings_of(const NewStorage& fresh, const StorageConformanceOptions& options = {}) {
    Findings found;
    found.kept = check_storage_conformance(
        fresh,
        [&](const StorageCheckResult& result) {
            if (result.outcome == StorageCheckOutcome::failed) found.broken.emplace(result.name);
            if (result.outcome == StorageCheckOutcome::not_offered) found.not_offered.emplace(result.name);
            found.text += to_string(result) + "\n";
        },
        options);
    return found;
}

NewStorage broken_by(Fault fault) {
    return [fault] { return [storage = std::make_shared<BrokenStorage>(memory_storage(), fault)] { return storage; }; };
}

struct Planted {
    Fault fault{};
    std::string_view check{};  ///< one that has to find it
};

}  // namespace

TEST_CASE("the conformance suite finds the promise that a store breaks", "[storage]") {
    const Planted planted = GENERATE(
        Planted{Fault::cuts_at_nul, "an object comes back byte for byte"},
        Planted{Fault::empty_is_absent, "an object of no bytes is an object"},
        Planted{Fault::absent_is_empty, "an absent object is nullopt"},
        Planted{Fault::overwrites, "the same content again is a no-op, other content is refused and changes nothing"},
        Planted{Fault::refuses_same, "the same content again is a no-op, other content is refused and changes nothing"},
        Planted{Fault::compares_length_only, "a large object is written once"},
        Planted{Fault::range_fails_at_end, "a range is cut to the object"},
        Planted{Fault::mends_utf8, "a range that splits a character gives the bytes as they are"},
        Planted{Fault::takes_negative, "a negative range is refused"},
        Planted{Fault::stat_is_off, "stat tells key and length"},
        Planted{Fault::keeps_removed, "a removed key may be written again, with other content"},
        Planted{Fault::locates_elsewhere, "locate gives the key, or a path that ends with it"},
        Planted{Fault::takes_any_key, "hostile keys are refused everywhere"},
        Planted{Fault::ignores_case, "list is in byte order of the keys and honours the prefix"},
        Planted{Fault::shortens_keys, "names of every kind are kept apart"},
        Planted{Fault::denies_stream, "can_stream says whether there is a writer"},
        Planted{Fault::writer_shows_early, "a writer shows nothing before commit and everything after"},
        Planted{Fault::dropped_writer_commits, "a dropped writer leaves nothing"},
        Planted{Fault::clash_ends_writer, "a writer obeys write-once, and may commit under another key then"},
        Planted{Fault::empty_writer_is_lost, "an empty writer commits an object of no bytes"},
        Planted{Fault::invalid_key_keeps_writer, "a refused key uses the writer up"},
        Planted{Fault::writers_share, "writers that are open at once do not mix"},
        Planted{Fault::stream_adds_newline, "what is put and what is streamed are the same"},
        Planted{Fault::lists_backwards, "a long listing has every object once"},
        Planted{Fault::lists_everything, "list is in byte order of the keys and honours the prefix"},
        Planted{Fault::never_stops, "list tells the length and stops when asked to"},
        Planted{Fault::skips_after_removal, "objects may be removed while they are listed"},
        Planted{Fault::swallows, "what a visit throws gets out and leaves the storage usable"},
        Planted{Fault::lists_a_page, "a long listing has every object once"},
        Planted{Fault::loses_last_byte_of_blocks, "objects of all sizes come back"},
        Planted{Fault::wraps_offsets, "a large object comes back by ranges"},
        Planted{Fault::everyone_wins, "threads write, read, list and remove at once"},
        Planted{Fault::everyone_wins, "opens of one store agree on one content for each key"},
        Planted{Fault::fails_for_twins, "threads that write the same content under one key all succeed"},
        Planted{Fault::shows_half, "an object that others are writing is absent or whole"});
    CAPTURE(planted.check, static_cast<int>(planted.fault));
    const Findings found = findings_of(broken_by(planted.fault), {.objects = 120, .rounds = 6});
    INFO(found.text);
    CHECK_FALSE(found.kept);
    CHECK(found.broken.contains(std::string(planted.check)));
}

TEST_CASE("the conformance suite finds opens that do not share, and objects that end with their storage", "[storage]") {
    const Findings found = findings_of([] { return [] { return memory_storage(); }; });
    CHECK(found.broken.contains("opens of one store share it"));
    CHECK(found.broken.contains("objects outlive the storage that wrote them"));
    CHECK(found.broken.contains("opens of one store agree on one content for each key"));
}

TEST_CASE("a store with put and get alone breaks nothing, and is told what it does not offer", "[storage]") {
    const Findings found = findings_of(broken_by(Fault::offers_least));
    INFO(found.text);
    CHECK(found.kept);
    CHECK(found.broken.empty());
    CHECK(found.not_offered.size() == 14);
    CHECK(found.not_offered.contains("a writer obeys write-once, and may commit under another key then"));
    CHECK(found.text.find("not offered: a long listing has every object once\n") != std::string::npos);
}

TEST_CASE("a store that fails is a failure of each check that it fails, not the end of the suite", "[storage]") {
    const Findings found = findings_of([]() -> OpenStorage {
        return []() -> std::shared_ptr<Storage> { throw Error(Errc::storage_failed, "open: no such disk"); };
    });
    CHECK(found.broken.size() == storage_conformance_checks().size());
    CHECK(found.text.find("opening threw: open: no such disk") != std::string::npos);
}

TEST_CASE("one check runs alone, and its failure says what was expected", "[storage]") {
    const Findings found = findings_of(broken_by(Fault::stat_is_off), {.only = "stat tells key and length"});
    CHECK(found.text == "FAILED: stat tells key and length\n    stat \"c/k\": expected 5 bytes, found \"c/k\" of 6\n");
    CHECK(errc_of([] { (void)findings_of(broken_by(Fault::none), {.only = "no such check"}); }) == Errc::not_found);
    CHECK(errc_of([] { (void)findings_of(broken_by(Fault::none), {.threads = 0}); }) == Errc::invalid_config);
}

TEST_CASE("every check has a name of its own", "[storage]") {
    const std::vector<std::string_view> names = storage_conformance_checks();
    CHECK(std::set(names.begin(), names.end()).size() == names.size());
    for (const std::string& key : refused_storage_keys()) CHECK_FALSE(is_valid_key(key));
}
