// Declares what the library holds compiled: its class templates over the message types that come with whittle. A
// program that uses those takes them from the library; a message type of one's own is compiled where it is used.
//
// Without an include guard: every header that defines such a template or such a type sets its macro and ends with this
// file, so that each pair is declared once both halves have been seen, in whatever order. src/*/compiled.cpp and
// extensions of message types have the definitions. The former undefine the template's macro behind it: clang refuses
// to declare there what is already defined, and in a host's build the same file goes on with other sources.

// A message type of an extension may have a number: its header defines WHITTLE_MESSAGE_TYPE_1 or _2 as the type's name.
// Without one it is compiled where it is used, as a host's own type is.

#undef WHITTLE_OVER_TYPE_1
#ifdef WHITTLE_MESSAGE_TYPE_1
#    define WHITTLE_OVER_TYPE_1(T) extern template class T<WHITTLE_MESSAGE_TYPE_1>;
#else
#    define WHITTLE_OVER_TYPE_1(T)
#endif

#undef WHITTLE_OVER_TYPE_2
#ifdef WHITTLE_MESSAGE_TYPE_2
#    define WHITTLE_OVER_TYPE_2(T) extern template class T<WHITTLE_MESSAGE_TYPE_2>;
#else
#    define WHITTLE_OVER_TYPE_2(T)
#endif

// A file that has seen all templates, defines WHITTLE_COMPILES as a type and includes this one compiles them over it.
#undef WHITTLE_COMPILED
#ifdef WHITTLE_COMPILES
#    define WHITTLE_COMPILED(T) template class T<WHITTLE_COMPILES>;
#else
#    define WHITTLE_COMPILED(T)               \
        extern template class T<ChatMessage>; \
        WHITTLE_OVER_TYPE_1(T)                \
        WHITTLE_OVER_TYPE_2(T)
#endif

namespace whittle::inline v0 {

#ifdef WHITTLE_DEFINES_CONVERSATION
WHITTLE_COMPILED(Conversation)
#endif
#ifdef WHITTLE_DEFINES_TRANSACTION
WHITTLE_COMPILED(Transaction)
#endif
#ifdef WHITTLE_DEFINES_CHAIN
WHITTLE_COMPILED(Chain)
#endif
#ifdef WHITTLE_DEFINES_AGENT_LOOP
WHITTLE_COMPILED(AgentLoop)
#endif
#ifdef WHITTLE_DEFINES_REDUCTION
WHITTLE_COMPILED(Reduction)
#endif
#ifdef WHITTLE_DEFINES_TRIMMING
WHITTLE_COMPILED(Trimming)
#endif
#ifdef WHITTLE_DEFINES_SUMMARIZATION
WHITTLE_COMPILED(Summarization)
#endif
#ifdef WHITTLE_DEFINES_PRUNING
WHITTLE_COMPILED(Pruning)
#endif
#ifdef WHITTLE_DEFINES_COMPACTION
WHITTLE_COMPILED(Compaction)
#endif
#ifdef WHITTLE_DEFINES_TOKEN_SAVING
WHITTLE_COMPILED(TokenSaving)
#endif

}  // namespace whittle::inline v0
