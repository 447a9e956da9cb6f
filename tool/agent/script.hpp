#pragma once

#include <whittle/model/model.hpp>
#include <whittle/openai/openai.hpp>

#include <string_view>

namespace agent {

/// The task that the scripted model can do: `enum_name` stands in it in back quotes.
[[nodiscard]] std::string task_for(std::string_view enum_name);

/// The reply of a scripted model: a function of the request and of nothing else. It keeps no notes of its own; its plan
/// stands in its own replies, what it knows of files is what the request still shows, and what was cleared it reads
/// back from the place that the placeholder names.
[[nodiscard]] whittle::Reply<whittle::openai::Message> scripted_reply(
    const whittle::ModelRequest<whittle::openai::Message>& request);

}  // namespace agent
