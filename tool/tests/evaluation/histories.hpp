// Sessions made by hand, whose figures can be worked out on paper.
#pragma once

#include "evaluation/evaluation.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace whittle::testing {

/// Writes a session message by message. A text of n tokens is one of 4 n characters.
class History {
public:
    explicit History(evaluation::AgentKind kind = evaluation::AgentKind::coding) {
        input_.id = "s";
        input_.kind = kind;
    }

    History& user(std::string text) { return add({.role = Role::user, .content = std::move(text)}); }
    History& say(std::string text) { return add({.role = Role::assistant, .content = std::move(text)}); }
    /// A reply with one call, and its result.
    History& round(std::string tool, std::string arguments, std::string result) {
        const std::string id = "c" + std::to_string(++calls_);
        add({.role = Role::assistant, .calls = {{id, tool, std::move(arguments)}}});
        return add({.role = Role::tool, .content = std::move(result), .result_of = id, .name = std::move(tool)});
    }
    /// What the next replies are timed by; each message after it has this time.
    History& at(double seconds) {
        seconds_ = seconds;
        return *this;
    }
    History& system(std::string text) {
        input_.system = std::move(text);
        return *this;
    }
    History& add(evaluation::Message message) {
        input_.messages.push_back(std::move(message));
        input_.seconds.push_back(seconds_);
        return *this;
    }

    [[nodiscard]] const evaluation::SessionInput& input() const { return input_; }
    [[nodiscard]] evaluation::Session session() const { return evaluation::Session(input_); }

private:
    evaluation::SessionInput input_{};
    std::optional<double> seconds_{};
    int calls_ = 0;
};

/// Text of `tokens` tokens that shares nothing with others of another letter.
inline std::string tokens_of_text(std::size_t tokens, char letter = 'x') { return std::string(4 * tokens, letter); }

inline evaluation::Figures run_control(const evaluation::Session& session, std::string_view name,
                                       const evaluation::RunOptions& options = {}) {
    evaluation::Run run(session, options);
    const evaluation::Control* control = evaluation::find_control(name);
    control->requests(session, [&](std::size_t call, const evaluation::Request& request) { run.send(call, request); });
    return run.finish();
}

/// Everything, with some messages replaced from model call `from` on.
inline evaluation::Figures run_replacing(const evaluation::Session& session, std::size_t from,
                                         const std::vector<std::pair<std::size_t, std::string>>& texts,
                                         const evaluation::RunOptions& options = {}) {
    evaluation::Run run(session, options);
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        evaluation::Request request;
        for (std::size_t i = 0; i < session.calls()[call]; ++i) request.rest.push_back({i, nullptr});
        for (const auto& [message, text] : texts) {
            if (call < from || message >= request.rest.size()) continue;
            evaluation::Message changed = session.messages()[message];
            changed.content = text;
            request.rest[message].message = std::make_shared<const evaluation::Message>(std::move(changed));
        }
        run.send(call, request);
    }
    return run.finish();
}

inline evaluation::RunOptions only(std::string_view profile) {
    return {.profiles = {*evaluation::find_cost_profile(profile)}};
}

inline evaluation::ProbeCount all_ages(const evaluation::Figures& figures, evaluation::ProbeKind kind) {
    evaluation::ProbeCount sum;
    for (const evaluation::ProbeCount& age : figures.probes[static_cast<std::size_t>(kind)]) sum += age;
    return sum;
}

}  // namespace whittle::testing
