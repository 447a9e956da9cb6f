// Which single words stay, whatever a classifier says.
#include "whittle/base/text.hpp"
#include "whittle/token_saving/detail/word_text.hpp"
#include "whittle/token_saving/detail/words.hpp"

#include <algorithm>
#include <array>

namespace whittle::inline v0 {

namespace detail {

std::string_view core_of(std::string_view word) noexcept {
    while (!word.empty() && !is_word_byte(word.front())) word.remove_prefix(1);
    while (!word.empty() && !is_word_byte(word.back())) word.remove_suffix(1);
    return word;
}

}  // namespace detail

namespace {

using Text = std::string_view;

/// Negations of eight languages, and words for "nothing there". Sorted.
constexpr std::array negations{
    Text("aint"),    Text("arent"),     Text("aucun"),    Text("aucune"),   Text("barely"),  Text("cannot"),
    Text("cant"),    Text("couldnt"),   Text("didnt"),    Text("doesnt"),   Text("dont"),    Text("except"),
    Text("false"),   Text("geen"),      Text("hadnt"),    Text("hardly"),   Text("hasnt"),   Text("havent"),
    Text("isnt"),    Text("jamais"),    Text("kein"),     Text("keine"),    Text("keinem"),  Text("keinen"),
    Text("keiner"),  Text("keinerlei"), Text("keines"),   Text("mai"),      Text("nada"),    Text("nadie"),
    Text("ne"),      Text("neanche"),   Text("neither"),  Text("nem"),      Text("nemmeno"), Text("nenhum"),
    Text("nenhuma"), Text("nessun"),    Text("nessuna"),  Text("nessuno"),  Text("never"),   Text("ni"),
    Text("nicht"),   Text("nichts"),    Text("nie"),      Text("niemals"),  Text("niemand"), Text("niente"),
    Text("niet"),    Text("nil"),       Text("ningun"),   Text("ninguna"),  Text("ninguno"), Text("no"),
    Text("nobody"),  Text("non"),       Text("none"),     Text("nooit"),    Text("nope"),    Text("nor"),
    Text("not"),     Text("nothing"),   Text("nowhere"),  Text("null"),     Text("nulla"),   Text("nunca"),
    Text("ohne"),    Text("pas"),       Text("personne"), Text("rarely"),   Text("rien"),    Text("sans"),
    Text("seldom"),  Text("sem"),       Text("senza"),    Text("shouldnt"), Text("sin"),     Text("tampoco"),
    Text("unless"),  Text("wasnt"),     Text("weder"),    Text("werent"),   Text("without"), Text("wont"),
    Text("wouldnt"), Text("zonder")};
static_assert(std::ranges::is_sorted(negations));

/// What makes a sentence hold only under a condition, in an order, to a degree or as a duty, in eight languages. Left
/// out are words that mean something else in a language where they are as common. Sorted.
constexpr std::array connectives{
    Text("aber"),      Text("above"),    Text("after"),      Text("afterwards"), Text("alleen"),    Text("als"),
    Text("although"),  Text("altijd"),   Text("always"),     Text("anders"),     Text("antes"),     Text("assuming"),
    Text("aunque"),    Text("avant"),    Text("before"),     Text("beforehand"), Text("below"),     Text("bevor"),
    Text("bis"),       Text("but"),      Text("cuando"),     Text("daarna"),     Text("danach"),    Text("dann"),
    Text("darf"),      Text("debe"),     Text("depois"),     Text("depuis"),     Text("despite"),   Text("deve"),
    Text("doit"),      Text("dopo"),     Text("during"),     Text("earlier"),    Text("either"),    Text("else"),
    Text("enquanto"),  Text("ensuite"),  Text("eventually"), Text("falls"),      Text("fewer"),     Text("finally"),
    Text("first"),     Text("hasta"),    Text("however"),    Text("if"),         Text("immer"),     Text("instead"),
    Text("last"),      Text("later"),    Text("least"),      Text("less"),       Text("lorsque"),   Text("luego"),
    Text("ma"),        Text("maar"),     Text("mais"),       Text("mas"),        Text("may"),       Text("mientras"),
    Text("might"),     Text("moet"),     Text("more"),       Text("most"),       Text("muss"),      Text("must"),
    Text("nachdem"),   Text("nadat"),    Text("next"),       Text("nur"),        Text("oder"),      Text("once"),
    Text("only"),      Text("oppure"),   Text("optional"),   Text("or"),         Text("otherwise"), Text("ou"),
    Text("pero"),      Text("poi"),      Text("previous"),   Text("previously"), Text("prima"),     Text("provided"),
    Text("puis"),      Text("quand"),    Text("quando"),     Text("required"),   Text("se"),        Text("sempre"),
    Text("seulement"), Text("shall"),    Text("should"),     Text("si"),         Text("siempre"),   Text("since"),
    Text("sinon"),     Text("sobald"),   Text("soll"),       Text("solo"),       Text("soltanto"),  Text("somente"),
    Text("sondern"),   Text("sonst"),    Text("than"),       Text("then"),       Text("though"),    Text("till"),
    Text("totdat"),    Text("toujours"), Text("under"),      Text("until"),      Text("voordat"),   Text("vorher"),
    Text("wanneer"),   Text("wenn"),     Text("when"),       Text("whenever"),   Text("whether"),   Text("while"),
    Text("whilst"),    Text("within"),   Text("zuerst"),     Text("zuletzt")};
static_assert(std::ranges::is_sorted(connectives));

bool carries_logic(std::string_view core) {
    std::string lower = ascii_lower(core);
    if (lower.ends_with("n't")) return true;
    std::erase(lower, '\'');
    const auto is_in = [&](const auto& sorted) { return std::ranges::binary_search(sorted, Text(lower)); };
    return is_in(negations) || is_in(connectives);
}

/// Bytes that prose does not have inside or around words, digits and all that is not ASCII.
bool has_symbol(std::string_view word) noexcept {
    return std::ranges::any_of(word, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7F || (c >= '0' && c <= '9')) return true;
        return std::string_view("/\\_()[]{}<>=@#$\"`|&*+~^%:").find(c) != std::string_view::npos;
    });
}

/// `a.b`, `a-b`, `aB`, `AB`, `AB's`, `.a`, `-a`: file names, compound names, options, constants.
bool is_name(std::string_view word, std::string_view core) noexcept {
    if (word.front() == '-' || word.front() == '.') return true;
    for (std::size_t i = 0; i < core.size(); ++i) {
        if (core[i] == '.' || core[i] == '-' || core[i] == ',' || core[i] == ';') return true;
        if (i > 0 && detail::is_upper(core[i]) && detail::is_letter(core[i - 1])) return true;
    }
    return false;
}

}  // namespace

bool is_protected_word(std::string_view word) noexcept {
    if (word.empty() || has_symbol(word)) return true;
    const std::string_view core = detail::core_of(word);
    if (core.empty() || is_name(word, core)) return true;
    return carries_logic(core);
}

}  // namespace whittle::inline v0
