#include "whittle/summary/detail/chunks.hpp"
#include "whittle/base/detail/json.hpp"

namespace whittle::inline v0 {

std::string to_text(const SummaryGenerationState& state) {
    detail::JsonWriter json;
    json.open_object();
    json.member("byte", state.next_byte);
    json.name("done");
    json.open_array();
    json.value(state.done.low);
    json.value(state.done.high);
    json.close_array();
    json.member("entry", state.next_entry);
    json.member("limit", state.learnt_input_limit);
    json.member("message", state.next_message);
    json.member("summary", state.summary_so_far);
    json.close_object();
    return json.take();
}

namespace {

template <typename Number>
bool read_natural(const std::optional<detail::JsonValue>& json, Number& number) {
    const auto natural = json ? json->natural() : std::nullopt;
    if (!natural || !std::in_range<Number>(*natural)) return false;
    number = static_cast<Number>(*natural);
    return true;
}

}  // namespace

SummaryGenerationState summary_generation_state_from(std::string_view text) {
    const detail::JsonValue json = detail::parse_json(text);
    const std::string* const summary = json.find_string("summary");
    const auto done = json.find("done");
    if (summary == nullptr || !done || !done->is_array() || done->size() != 2) return {};
    const std::vector<detail::JsonValue> halves = done->values();
    SummaryGenerationState state{.summary_so_far = *summary};
    const bool is_whole =
        read_natural(json.find("message"), state.next_message) && read_natural(json.find("entry"), state.next_entry) &&
        read_natural(json.find("byte"), state.next_byte) && read_natural(halves[0], state.done.low) &&
        read_natural(halves[1], state.done.high) && read_natural(json.find("limit"), state.learnt_input_limit);
    return is_whole ? state : SummaryGenerationState{};
}

}  // namespace whittle::inline v0
