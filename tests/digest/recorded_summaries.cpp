// Summaries that models wrote when recorded agents compacted their histories: how many of them acceptance refuses.
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/adapter/openai.hpp"
#include "whittle/adapter/trajectory.hpp"
#include "whittle/digest/digest.hpp"
#include "whittle/port/scripted_model.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using Recorded = openai::Message;

/// A compaction of a recorded session.
struct Compacted {
    std::string session{};
    std::string summary{};
    std::shared_ptr<Conversation<Recorded>> before{};
};

std::vector<Compacted> recorded_compactions() {
    std::vector<Compacted> found;
    for (const auto& file : recorded_files()) {
        read_trajectories(file, {}, [&](Trajectory<>&& session) {
            const auto meta = session.rest.value("meta", nlohmann::ordered_json::object());
            for (const auto& one : meta.value("recorded_compactions", nlohmann::ordered_json::array())) {
                const auto text = one.find("summary");
                if (text == one.end() || !text->is_string() || text->get<std::string>().empty()) continue;
                auto before = std::make_shared<Conversation<Recorded>>(session.id);
                const auto end = std::min(one.at("before_message").get<std::size_t>(), session.messages.size());
                for (std::size_t i = 0; i < end; ++i) before->push_back(session.messages[i], Usage{});
                found.push_back({session.id, text->get<std::string>(), std::move(before)});
            }
        });
    }
    return found;
}

/// Why that summary of that conversation is refused; empty: it is accepted.
std::string refusal_of(const Conversation<Recorded>& conversation, const std::string& summary) {
    ScriptedModel<Recorded> model([&](const ModelRequest<Recorded>&) {
        return Reply<Recorded>{message_traits<Recorded>::make(Role::assistant, summary)};
    });
    std::vector<std::size_t> fold(conversation.size());
    std::iota(fold.begin(), fold.end(), std::size_t{0});
    DigestState state;
    const auto result = digest<Recorded>(
        {.model = model, .messages = conversation.messages(), .outline = conversation.outline(), .fold = fold},
        {.max_input_tokens = 100'000'000}, {}, {.purpose = "test"}, state);
    return result.failure ? result.failure->message : std::string();
}

}  // namespace

TEST_CASE("summaries that models wrote of recorded sessions are accepted, those of other sessions mostly refused",
          "[digest][data]") {
    if (recorded_files().empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    const std::vector<Compacted> all = recorded_compactions();
    REQUIRE(all.size() >= (is_soak() ? 25U : 1U));
    std::size_t others = 0;
    std::size_t others_refused = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        CAPTURE(all[i].session, i);
        CHECK(refusal_of(*all[i].before, all[i].summary) == "");
        for (const std::size_t step : {1U, 5U, 11U}) {
            const Compacted& other = all[(i + step) % all.size()];
            if (other.session == all[i].session) continue;
            ++others;
            others_refused += refusal_of(*all[i].before, other.summary).empty() ? 0 : 1;
        }
    }
    CAPTURE(others, others_refused);
    if (is_soak()) CHECK(others_refused * 10 >= others * 8);
    WARN(all.size() << " summaries accepted; of " << others << " of another session, " << others_refused << " refused");
}
