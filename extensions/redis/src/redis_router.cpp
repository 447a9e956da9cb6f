#include "redis_router.hpp"

namespace whittle::inline v0 {
namespace {

class SingleRouter final : public RedisRouter {
public:
    explicit SingleRouter(RedisAddress address) : address_(std::move(address)) {}
    RedisAddress primary_of(int, const RedisTry&) override { return address_; }
    void suspect(const RedisAddress&) override {}
    void moved(int, const RedisAddress&) override {}

private:
    RedisAddress address_;
};

}  // namespace

std::unique_ptr<RedisRouter> make_redis_router(const RedisStorageOptions& options, const RedisTlsSettings* tls) {
    switch (options.topology) {
        case RedisTopology::sentinel: return make_sentinel_router(options, tls);
        case RedisTopology::cluster: return make_cluster_router(options, tls);
        case RedisTopology::single: break;
    }
    return std::make_unique<SingleRouter>(addresses_of(options).front());
}

}  // namespace whittle::inline v0
