// Calls what each component that was asked for compiled, so that it and the library that it needs are linked, and
// prints the version.
#include <iostream>
#include <whittle/openai/openai.hpp>
#include <whittle/whittle.hpp>
#ifdef USE_http
#    include <whittle/http/curl_transport.hpp>
#endif
#ifdef USE_sqlite
#    include <whittle/sqlite/sqlite_storage.hpp>
#endif
#ifdef USE_redis
#    include <whittle/redis/redis_store_type.hpp>
#endif
#ifdef USE_encryption
#    include <whittle/encryption/encrypted_storage.hpp>
#endif
#ifdef USE_spdlog
#    include <whittle/spdlog/spdlog.hpp>
#endif

int main() {
    whittle::Conversation<whittle::openai::Message> conversation("consumer");
    bool works = conversation.tokens(whittle::chars_counter()) == 0;
#ifdef USE_http
    works = works && whittle::make_curl_transport() != nullptr;
#endif
#ifdef USE_sqlite
    const auto store = whittle::sqlite_storage("consumer.db");
    store->put_if_absent("key", "value");
    works = works && store->get("key") == "value";
#endif
#ifdef USE_redis
    works = works && whittle::redis_store_type().type == "redis";
#endif
#ifdef USE_encryption
    works = works && !whittle::new_encryption_key().empty();
#endif
#ifdef USE_spdlog
    works = works && whittle::events_to_spdlog(nullptr) != nullptr;
#endif
    std::cout << WHITTLE_VERSION_STRING << '\n';
    return works ? 0 : 1;
}
