#pragma once

#include "whittle/model/model.hpp"

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace whittle::inline v0::detail {

/// A function that answers requests, with a `Reply<M>` or with its message alone.
template <typename F, typename M>
concept ModelFunction = AgentMessage<M> && std::invocable < F&,
        const ModelRequest<M>
& > &&(std::same_as<std::invoke_result_t<F&, const ModelRequest<M>&>, Reply<M>> ||
       std::same_as<std::invoke_result_t<F&, const ModelRequest<M>&>, M>);

template <AgentMessage M, typename F>
class FunctionModel final : public Model<M> {
public:
    explicit FunctionModel(F function) : function_(std::move(function)) {}

    Reply<M> generate(const ModelRequest<M>& request) override {
        if (request.stop.stop_requested())
            throw ModelError(ModelErrorClass::cancelled, "call model: stopped before the call");
        return {function_(request)};
    }

private:
    F function_;
};

/// What stands for a model: a pointer to one, shared or unique, or a function.
template <typename T, typename M>
concept StandsForModel = std::convertible_to<T, std::shared_ptr<Model<M>>> || ModelFunction<T, M>;

template <AgentMessage M, StandsForModel<M> T>
[[nodiscard]] std::shared_ptr<Model<M>> to_model(T model) {
    if constexpr (std::convertible_to<T, std::shared_ptr<Model<M>>>)
        return std::move(model);
    else
        return std::make_shared<FunctionModel<M, T>>(std::move(model));
}

}  // namespace whittle::inline v0::detail
