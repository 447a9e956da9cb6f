#include "budgeted_model.hpp"

#include <utility>

namespace agent {
namespace {

using whittle::openai::Message;

class PaidModel final : public whittle::Model<Message> {
public:
    PaidModel(std::shared_ptr<whittle::Model<Message>> model, Spending& spending,
              std::shared_ptr<const whittle::TokenCounter> counter)
        : model_(std::move(model)), spending_(spending), counter_(std::move(counter)) {}

    whittle::Reply<Message> generate(const whittle::ModelRequest<Message>& request) override {
        spending_.require_room();
        auto reply = model_->generate(request);
        const bool is_reported = reply.usage && reply.usage->total() > 0;  // a server that says nothing is not for free
        const whittle::Usage usage = is_reported ? *reply.usage : estimate(request, reply.message);
        spending_.add(usage);
        if (!request.purpose.empty()) spending_.add_side_call(usage.total() - usage.output);
        return reply;
    }

private:
    [[nodiscard]] whittle::Usage estimate(const whittle::ModelRequest<Message>& request, const Message& reply) const {
        return {.uncached_input = count_request(request, *counter_),
                .output = whittle::count_message(reply, *counter_)};
    }

    std::shared_ptr<whittle::Model<Message>> model_;
    Spending& spending_;
    std::shared_ptr<const whittle::TokenCounter> counter_;
};

}  // namespace

std::shared_ptr<whittle::Model<Message>> budgeted_model(std::shared_ptr<whittle::Model<Message>> model,
                                                        Spending& spending,
                                                        std::shared_ptr<const whittle::TokenCounter> counter) {
    return std::make_shared<PaidModel>(std::move(model), spending, std::move(counter));
}

whittle::ModelMaker<Message> budgeted_models(whittle::ModelMaker<Message> make, Spending& spending,
                                             std::shared_ptr<const whittle::TokenCounter> counter) {
    return [make = std::move(make), &spending, counter = std::move(counter)](const whittle::ModelSettings& settings) {
        return budgeted_model(make(settings), spending, counter);
    };
}

std::int64_t count_request(const whittle::ModelRequest<Message>& request, const whittle::TokenCounter& counter) {
    std::int64_t tokens = whittle::count_overhead(request.system, request.tools, counter);
    for (const Message& message : request.messages) tokens += whittle::count_message(message, counter);
    return tokens;
}

}  // namespace agent
