// The headers behind the macros of <windows.h> as it is without NOMINMAX and WIN32_LEAN_AND_MEAN. What the standard
// library includes comes first: it has to deal with these macros itself.
#include <algorithm>
#include <any>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>
#include <version>
// What platform.hpp includes of it.
#include "whittle/base/platform.hpp"

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define CALLBACK __stdcall
#define ERROR 0
#define DELETE (0x00010000L)
#define IGNORE 0
#define STRICT 1
#define NO_ERROR 0L
#define OVERFLOW 3
#define DOMAIN 1
#define TRUE 1
#define FALSE 0
#define GetMessage GetMessageW
#define SendMessage SendMessageW
#define GetObject GetObjectW
#define CreateFile CreateFileW
#define Yield()
#include "whittle/whittle.hpp"
#undef min
#undef max
#undef near
#undef far
#undef small
#undef interface
#undef ERROR
#undef CALLBACK

#include "support/catch.hpp"

using namespace whittle;

TEST_CASE("the headers compile behind the macros of Windows", "[base]") {
    const Chain chain{ChainConfig{.storage = memory_storage()},
                      Reduction{{.max_tokens_for_clear = 100, .clear_target_tokens = 50}}};
    Conversation conversation("c");
    conversation.push_back(ChatMessage::user("Read."));
    CHECK_NOTHROW(chain.before_model(conversation));
}
