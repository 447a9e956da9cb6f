// expect: message_traits of the chain's message type need make_tool_results: write `static std::vector<M> make_tool_res
// expect-not: this is no model
// expect-not: the model is for another message type than the chain
#include "note.hpp"

#include <whittle/whittle.hpp>

using namespace whittle;

template <>
struct whittle::message_traits<::Note> : NoteRole, NoteForEachPart, NoteSetText, NoteErasePart, NoteMake {};

void host(std::shared_ptr<Model<::Note>> model, const Chain<::Note>& chain) { AgentLoop loop{model, {}, chain}; }
void without_tools(std::shared_ptr<Model<::Note>> model, const Chain<::Note>& chain) { AgentLoop loop{model, chain}; }
void with_a_function(const Chain<::Note>& chain) {
    AgentLoop loop{[](const ModelRequest<::Note>&) { return ::Note{}; }, chain};
}
