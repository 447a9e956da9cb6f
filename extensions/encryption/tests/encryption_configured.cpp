// Encryption as a configuration asks for it; extensions/redaction/tests/configured_stores.cpp opens such stores.
#include "whittle/encryption/encrypted_store_type.hpp"

#include "support/catch.hpp"
#include "support/documented_keys.hpp"
#include "whittle/config/config_json.hpp"

using namespace whittle;

namespace {

ConfigTypes with_encryption() {
    ConfigTypes types;
    types.register_store_wrapper(encrypted_store_type());
    return types;
}

}  // namespace

TEST_CASE("a configuration that encrypts needs the keys when the store is opened", "[storage][encryption]") {
    const ChainSettings settings = read_chain_settings(
        R"({"storage": {"type": "memory", "encryption_key_env": "KEYS"}})", {.types = with_encryption()});
    CHECK_THROWS_WITH(open_storage(settings.storage_settings), "open storage: the environment has no value \"KEYS\"");
    const ChainSettings open = read_chain_settings(R"({"storage": {"type": "memory", "encryption_key_env": ""}})",
                                                   {.types = with_encryption()});
    CHECK_FALSE(open_storage(open.storage_settings) == nullptr);
}

TEST_CASE("the page of encryption has the row of its key", "[storage][encryption]") {
    CHECK(testing::undocumented_keys(with_encryption(), "extensions/encryption/README.md") == "");
}
