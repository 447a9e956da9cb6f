// What most files over JSON messages include, precompiled for builds of whittle itself: extensions, programs, tests.
// The JSON type is compiled once, in json.cpp of whittle::provider: else each file holds a copy of what it uses.
#pragma once

#include "library.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#if __has_include("whittle/provider/http_transport.hpp")
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
#endif

#include "whittle/message/chat_message.hpp"

#if __has_include("whittle/anthropic/anthropic.hpp")
#    include "whittle/anthropic/anthropic.hpp"
#endif
#if __has_include("whittle/openai/openai.hpp")
#    include "whittle/openai/openai.hpp"
#endif
