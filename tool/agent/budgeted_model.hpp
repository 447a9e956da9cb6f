#pragma once

#include "spending.hpp"

#include <whittle/config/config_json.hpp>
#include <whittle/model/model.hpp>
#include <whittle/openai/openai.hpp>
#include <whittle/tokens/counter.hpp>

#include <memory>

namespace agent {

/// `model`, every call of which is paid for from `spending`: by the usage that the server reports, or, if it reports
/// none or zeros, by what `counter` counts. Throws whittle::Error(limit_exceeded) instead of a call beyond the limit.
/// `spending` outlives it.
[[nodiscard]] std::shared_ptr<whittle::Model<whittle::openai::Message>> budgeted_model(
    std::shared_ptr<whittle::Model<whittle::openai::Message>> model, Spending& spending,
    std::shared_ptr<const whittle::TokenCounter> counter);

/// Makes what `make` makes, each model paid for.
[[nodiscard]] whittle::ModelMaker<whittle::openai::Message> budgeted_models(
    whittle::ModelMaker<whittle::openai::Message> make, Spending& spending,
    std::shared_ptr<const whittle::TokenCounter> counter);

/// The size of a request: its messages, its system text and its tools.
[[nodiscard]] std::int64_t count_request(const whittle::ModelRequest<whittle::openai::Message>& request,
                                         const whittle::TokenCounter& counter);

}  // namespace agent
