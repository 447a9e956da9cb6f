#pragma once

#include "whittle/message/traits.hpp"
#include "whittle/model/model.hpp"

#include <type_traits>

namespace whittle::inline v0::detail {

/// Whether it is a model, of whatever messages.
template <typename T>
concept IsModel = requires(T* model) {
    &T::generate;
};

/// Fails to compile where a model does not take the messages that a chain is for. The compiler's message has both.
template <typename ModelType, typename ChainIsFor>
struct ModelForChain {
    static_assert(
        ToolMessage<ChainIsFor>,
        "a loop appends the results of tools: message_traits of the chain's message type need "
        "make_tool_results: write `static std::vector<M> make_tool_results(std::span<const ToolResult> results)` "
        "there, or call the chain's hooks in a loop of your own (examples/01_own_loop.cpp)");
    static_assert(!IsModel<ModelType> || std::is_base_of_v<Model<ChainIsFor>, ModelType>,
                  "the model is for another message type than the chain: ModelForChain<...> beside this line names the "
                  "model and the chain's message type. A chain has the type of its first stage, and a stage without a "
                  "type, as in Reduction{...}, is for ChatMessage: write Reduction<M>{...}");
    static_assert(IsModel<ModelType> || !ToolMessage<ChainIsFor>,
                  "this is no model: give a std::shared_ptr or std::unique_ptr to a Model<M>, or a function that takes "
                  "const ModelRequest<M>& and gives Reply<M> or M");
};

/// What a pointer that stands for a model points to; another type itself.
template <typename T>
struct PointedAt {
    using type = T;
};
template <typename T>
requires requires { typename T::element_type; }
struct PointedAt<T> {
    using type = typename T::element_type;
};

}  // namespace whittle::inline v0::detail
