#pragma once

#include "evaluation/evaluation.hpp"
#include "whittle/message/traits.hpp"

#include <vector>

namespace whittle::inline v0::evaluation::detail {

/// Makes of the parts of one message what the figures see: a message for each result, then one for the rest.
class PartCollector {
public:
    explicit PartCollector(Role role) { rest_.role = role; }

    void add(const PartView& part);
    [[nodiscard]] std::vector<Message> take();

private:
    void add_content(Message& to, const PartView& part, int& parts);
    void add_to_result(const PartView& part);

    Message rest_{};
    int rest_parts_ = 0;
    std::vector<Message> results_{};
    int result_parts_ = 0;
};

template <AgentMessage M>
[[nodiscard]] std::vector<Message> messages_of(const M& message) {
    PartCollector collector(message_traits<M>::role(message));
    message_traits<M>::for_each_part(message, [&](const PartView& part) { collector.add(part); });
    return collector.take();
}

}  // namespace whittle::inline v0::evaluation::detail
