#include "support/catch.hpp"
#include "support/storage_tools.hpp"
#include "support/suite_sizes.hpp"
#include "whittle/storage/storage.hpp"

using namespace whittle;
using whittle::testing::errc_of;

TEST_CASE("memory storage keeps the storage contract", "[storage][contract]") {
    testing::check_conformance([] { return [storage = memory_storage()] { return storage; }; }, testing::suite_sizes());
}

TEST_CASE("a full memory storage refuses what is too much and keeps the rest", "[storage]") {
    const auto storage = memory_storage({.max_bytes = 10});
    storage->put_if_absent("a", "123456");
    CHECK(errc_of([&] { storage->put_if_absent("b", "12345"); }) == Errc::storage_failed);
    CHECK_FALSE(storage->get("b"));
    CHECK_NOTHROW(storage->put_if_absent("a", "123456"));
    storage->put_if_absent("b", "1234");
    CHECK(errc_of([&] { storage->put_if_absent("c", "1"); }) == Errc::storage_failed);
    CHECK_NOTHROW(storage->put_if_absent("empty", ""));
    CHECK(storage->remove("a"));
    CHECK_NOTHROW(storage->put_if_absent("c", "123456"));
}

TEST_CASE("a stream beyond the quota is refused while it is written", "[storage]") {
    const auto storage = memory_storage({.max_bytes = 10});
    const auto writer = storage->open_writer();
    writer->write("123456");
    CHECK(errc_of([&] { writer->write("12345"); }) == Errc::storage_failed);
}

TEST_CASE("a negative quota is a configuration error", "[storage]") {
    CHECK(errc_of([] { (void)memory_storage({.max_bytes = -1}); }) == Errc::invalid_config);
}

TEST_CASE("a writer may outlive its memory storage", "[storage]") {
    auto storage = memory_storage();
    const auto writer = storage->open_writer();
    storage.reset();
    writer->write("x");
    CHECK_NOTHROW(writer->commit("k"));
}
