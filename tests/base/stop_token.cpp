// The stop types for standard libraries that have none: as those of the standard library, of which every case runs too.
#include "whittle/base/detail/stop_token.hpp"
#include "whittle/base/detail/joining_thread.hpp"
#include "whittle/base/platform.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace whittle {
namespace {

struct Own {
    using Token = detail::PortableStopToken;
    using Source = detail::PortableStopSource;
    using Callback = detail::PortableStopCallback;
};
struct Chosen {
    using Token = StopToken;
    using Source = StopSource;
    using Callback = StopCallback;
};

TEMPLATE_TEST_CASE("a token sees the stop of its source, and a token of none sees no stop", "[base]", Own, Chosen) {
    typename TestType::Source source;
    const typename TestType::Token token = source.get_token();
    CHECK(token.stop_possible());
    CHECK_FALSE(token.stop_requested());
    CHECK(source.request_stop());
    CHECK_FALSE(source.request_stop());
    CHECK(source.stop_requested());
    CHECK(token.stop_requested());
    CHECK(token == source.get_token());
    const typename TestType::Token none;
    CHECK_FALSE(none.stop_possible());
    CHECK_FALSE(none.stop_requested());
    CHECK_FALSE(none == token);
}

TEMPLATE_TEST_CASE("each callback is called once, at once if the stop was asked for", "[base]", Own, Chosen) {
    typename TestType::Source source;
    int first = 0;
    int gone = 0;
    int late = 0;
    const typename TestType::Callback on_first(source.get_token(), [&] { ++first; });
    {
        const typename TestType::Callback on_gone(source.get_token(), [&] { ++gone; });
    }
    source.request_stop();
    source.request_stop();
    const typename TestType::Callback on_late(source.get_token(), [&] { ++late; });
    const typename TestType::Callback on_none(typename TestType::Token(), [&] { ++late; });
    CHECK(first == 1);
    CHECK(gone == 0);
    CHECK(late == 1);
}

TEMPLATE_TEST_CASE("a callback may remove itself and others", "[base]", Own, Chosen) {
    typename TestType::Source source;
    int calls = 0;
    std::vector<std::unique_ptr<typename TestType::Callback>> callbacks(3);
    for (auto& callback : callbacks)
        callback = std::make_unique<typename TestType::Callback>(source.get_token(), [&] {
            ++calls;
            for (auto& other : callbacks) other.reset();
        });
    source.request_stop();
    CHECK(calls == 1);
}

TEMPLATE_TEST_CASE("a callback that runs is waited for by who removes it", "[base][threads]", Own, Chosen) {
    for (int round = 0; round < 50; ++round) {
        typename TestType::Source source;
        std::atomic<bool> is_running = false;
        std::atomic<bool> has_ended = false;
        auto callback = std::make_unique<typename TestType::Callback>(source.get_token(), [&] {
            is_running = true;
            for (int i = 0; i < 100; ++i) std::this_thread::yield();
            has_ended = true;
        });
        detail::JoiningThread stopper([&] { source.request_stop(); });
        while (!is_running) std::this_thread::yield();
        callback.reset();
        CHECK(has_ended);
    }
}

TEMPLATE_TEST_CASE("one of many threads stops, and callbacks come and go meanwhile", "[base][threads]", Own, Chosen) {
    typename TestType::Source source;
    std::atomic<int> stops = 0;
    std::atomic<int> calls = 0;
    constexpr int threads = 4;
    constexpr int kept = 50;
    {
        std::vector<detail::JoiningThread> all;
        for (int i = 0; i < threads; ++i) {
            all.emplace_back([&, i] {
                std::vector<std::unique_ptr<typename TestType::Callback>> own;
                for (int k = 0; k < kept; ++k) {
                    own.push_back(std::make_unique<typename TestType::Callback>(source.get_token(), [&] { ++calls; }));
                    const typename TestType::Callback gone(source.get_token(), [] {});
                    if (i == 0 && k == kept / 2) stops += source.request_stop() ? 1 : 0;
                }
                stops += source.request_stop() ? 1 : 0;
                own.clear();
            });
        }
    }
    CHECK(stops == 1);
    CHECK(calls <= threads * kept);
    CHECK(source.stop_requested());
}

}  // namespace
}  // namespace whittle
