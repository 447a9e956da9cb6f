#include "whittle/digest/detail/chunks.hpp"

#include "whittle/base/text.hpp"

#include <nlohmann/json.hpp>

namespace whittle::inline v0 {

std::string to_text(const DigestState& state) {
    const nlohmann::json json{{"summary", to_valid_utf8(state.summary_so_far)},
                              {"message", state.next_message},
                              {"entry", state.next_entry},
                              {"byte", state.next_byte},
                              {"done", {state.done.low, state.done.high}},
                              {"limit", state.learnt_input_limit}};
    return json.dump();
}

DigestState digest_state_from(std::string_view text) {
    const nlohmann::json json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    try {
        DigestState state;
        json.at("summary").get_to(state.summary_so_far);
        json.at("message").get_to(state.next_message);
        json.at("entry").get_to(state.next_entry);
        json.at("byte").get_to(state.next_byte);
        json.at("done").at(0).get_to(state.done.low);
        json.at("done").at(1).get_to(state.done.high);
        json.at("limit").get_to(state.learnt_input_limit);
        return state;
    } catch (const nlohmann::json::exception&) {
        return {};
    }
}

}  // namespace whittle::inline v0
