// What most tests include, precompiled by tests/CMakeLists.txt.
#pragma once

#include "support/catch.hpp"

#include "whittle/adapter/anthropic.hpp"
#include "whittle/adapter/openai.hpp"
#include "whittle/message/chat_message.hpp"
#include "whittle/whittle.hpp"
