// expect: message_traits of the chain's message type need make_tool_results
// expect-not: the model is for another message type than the chain
#include "note.hpp"

#include <whittle/whittle.hpp>

using namespace whittle;

template <>
struct whittle::message_traits<::Note> : NoteRole, NoteForEachPart, NoteSetText, NoteErasePart, NoteMake {};

void host(std::shared_ptr<Model<::Note>> model, const Chain<::Note>& chain) { AgentLoop loop{model, {}, chain}; }
