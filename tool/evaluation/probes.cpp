#include "probes.hpp"

#include "arguments.hpp"
#include "characters.hpp"
#include "failures.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

/// A text that a call shows, before it is known whether it stood anywhere.
struct Candidate {
    ProbeKind kind = ProbeKind::action_id;
    Needle needle = 0;

    friend bool operator==(const Candidate&, const Candidate&) = default;
};

class ProbeFinder {
public:
    explicit ProbeFinder(const ProbeSource& source) : source_(source) {}

    Probes find() {
        for (const std::size_t reply : source_.calls) look_at_calls(reply);
        look_at_messages();
        index_texts();
        for (std::size_t call = 0; call < candidates_.size(); ++call)
            probes_.of_call.push_back(confirmed(candidates_[call], source_.calls[call]));
        std::erase_if(probes_.errors, [&](const Occurrence& error) { return is_fixed_[error.needle]; });
        return std::move(probes_);
    }

private:
    [[nodiscard]] const Message& message(std::size_t i) const { return source_.input.messages[i]; }

    void look_at_calls(std::size_t reply) {
        std::vector<Candidate>& found = candidates_.emplace_back();
        for (const ToolCall& call : message(reply).calls) {
            const std::vector<Argument> arguments = read_arguments(call.arguments);
            const CallNeeds needs = needs_of(arguments, source_.input.kind == AgentKind::service);
            add_candidates(found, ProbeKind::action_id, needs.identifiers);
            add_candidates(found, ProbeKind::action_line, needs.lines);
            add_candidates(found, ProbeKind::service_value, needs.values);
            for (const std::string& path : written_paths(call.tool, arguments)) add_artifact(path, reply);
        }
    }

    /// At most 12 of one reply.
    void add_candidates(std::vector<Candidate>& found, ProbeKind kind, const std::vector<std::string>& texts) {
        constexpr std::size_t most = 12;
        for (const std::string& text : texts) {
            if (found.size() == most) return;
            const Candidate candidate{kind, probes_.index.add(text)};
            if (std::ranges::find(found, candidate) == found.end()) found.push_back(candidate);
        }
    }

    void add_artifact(const std::string& path, std::size_t reply) {
        const Needle needle = probes_.index.add(path);
        const auto [at, is_new] = artifact_of_.emplace(needle, probes_.artifacts.size());
        if (is_new) probes_.artifacts.push_back({needle, {}});
        std::vector<std::size_t>& writes = probes_.artifacts[at->second].writes;
        if (writes.empty() || writes.back() != reply) writes.push_back(reply);
    }

    void look_at_messages() {
        for (std::size_t i = 0; i < source_.pieces.size(); ++i) {
            const std::string& text = source_.table[source_.pieces[i]].text;
            if (message(i).role == Role::user) probes_.users.push_back({i, probes_.index.add(text, true)});
            if (message(i).role != Role::tool) continue;
            const std::string line = failure_line(text);
            if (!line.empty()) probes_.errors.push_back({i, probes_.index.add(line)});
        }
    }

    /// One pass over each distinct text.
    void index_texts() {
        const std::string fixed = source_.input.system + "\n" + source_.input.tools;
        std::vector<std::vector<Needle>> in_piece(source_.table.size());
        for (PieceId id = 0; id < in_piece.size(); ++id) probes_.index.learn(source_.table[id].text);
        probes_.index.build();
        for (PieceId id = 0; id < in_piece.size(); ++id) in_piece[id] = probes_.index.find_in(source_.table[id].text);
        probes_.occurrences.resize(probes_.index.size());
        for (std::size_t i = 0; i < source_.pieces.size(); ++i) {
            for (const Needle needle : in_piece[source_.pieces[i]])
                probes_.occurrences[needle].push_back(static_cast<std::uint32_t>(i));
        }
        is_fixed_.assign(probes_.index.size(), false);
        for (const Needle needle : probes_.index.find_exactly_in(fixed)) is_fixed_[needle] = true;
    }

    [[nodiscard]] bool is_askable(const Candidate& candidate) const {
        const std::string_view text = probes_.index.text(candidate.needle);
        const std::int64_t least = candidate.kind == ProbeKind::service_value ? 4 : 8;
        if (is_fixed_[candidate.needle] || count_characters(text) < least) return false;
        return source_.common == nullptr || !source_.common->contains(text);
    }

    [[nodiscard]] std::vector<Probe> confirmed(const std::vector<Candidate>& candidates, std::size_t reply) const {
        std::vector<Probe> probes;
        for (const Candidate& candidate : candidates) {
            if (!is_askable(candidate)) continue;
            const auto& all = probes_.occurrences[candidate.needle];
            const auto end = std::ranges::lower_bound(all, reply);
            const auto is_mentioned = [&](std::uint32_t i) {
                return message(i).role == Role::tool || message(i).role == Role::user;
            };
            if (std::none_of(all.begin(), end, is_mentioned)) continue;
            probes.push_back({candidate.kind, candidate.needle, source_.turns[reply] - source_.turns[*(end - 1)]});
        }
        return probes;
    }

    const ProbeSource& source_;
    Probes probes_{};
    std::vector<std::vector<Candidate>> candidates_{};  // by call
    std::unordered_map<Needle, std::size_t> artifact_of_{};
    std::vector<bool> is_fixed_{};  // by needle: stands in the system text or the tools
};

}  // namespace

Probes find_probes(const ProbeSource& source) { return ProbeFinder(source).find(); }

}  // namespace whittle::inline v0::evaluation
