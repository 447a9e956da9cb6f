// Sealing as a configuration asks for it; extensions/redaction/tests/configured_stores.cpp opens such stores.
#include "whittle/sealing/sealed_store_type.hpp"

#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "whittle/config/config_json.hpp"

using namespace whittle;

namespace {

ConfigTypes with_sealing() {
    ConfigTypes types;
    types.register_store_around(sealed_store_type());
    return types;
}

}  // namespace

TEST_CASE("a configuration that seals needs the keys when the store is opened", "[storage][sealing]") {
    const ChainSettings settings =
        read_chain_settings(R"({"storage": {"type": "memory", "sealing_key_env": "KEYS"}})", {.types = with_sealing()});
    CHECK_THROWS_WITH(open_storage(settings.storage), "open storage: the environment has no value \"KEYS\"");
    const ChainSettings open =
        read_chain_settings(R"({"storage": {"type": "memory", "sealing_key_env": ""}})", {.types = with_sealing()});
    CHECK_FALSE(open_storage(open.storage) == nullptr);
}

TEST_CASE("the page of sealing has the row of its key", "[storage][sealing]") {
    CHECK(testing::undocumented_keys(with_sealing(), "extensions/sealing/README.md") == "");
}
