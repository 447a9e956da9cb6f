// Any bytes as text: they come back from their tokens, a stream cut at any place counts the same as the whole, head and
// tail fit their limit, and the upper bound holds. Any bytes as a packed vocabulary are refused.
#include "../tests/small_vocabulary.hpp"

#include "whittle/base/error.hpp"
#include "whittle/base/text.hpp"
#include "whittle/tiktoken/vocabulary.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace whittle;
using VocabularyPtr = std::shared_ptr<const Vocabulary>;

void require(bool holds) {
    if (!holds) __builtin_trap();
}

std::vector<VocabularyPtr> make_vocabularies() {
    const std::string corpus =
        "the cat's 1234 \n\n  HTTPResponse don't can't 中文中文 \xf0\x9f\x98\x80\xf0\x9f\x98\x80 aaaaaaaaaaaa";
    const std::string file = test::to_tiktoken_file(test::trained(corpus + corpus, 60));
    std::vector<VocabularyPtr> made;
    for (const EncodingInfo& encoding : known_encodings())
        made.push_back(Vocabulary::from_packed(pack_custom_vocabulary("small", encoding.name, file)));
    return made;
}

void check_stream(const VocabularyPtr& vocabulary, std::string_view text, std::size_t step) {
    TokenStream stream(vocabulary);
    for (std::size_t at = 0; at < text.size(); at += step) stream.append(text.substr(at, step));
    require(stream.tokens() == vocabulary->count(text));
}

void check(const VocabularyPtr& vocabulary, std::string_view text) {
    const std::vector<TokenId> ids = vocabulary->encode(text);
    const auto count = static_cast<std::int64_t>(ids.size());
    require(vocabulary->decode(ids) == to_valid_utf8(text));
    require(vocabulary->count(text) == count && count <= tokens_upper_bound(text));
    require(count <= tokens_upper_bound(*vocabulary, text));
    require(tokens_upper_bound(*vocabulary, text) <= tokens_upper_bound(text));
    require(vocabulary->count_up_to(text, count) == count && !vocabulary->count_up_to(text, count - 1));
    check_stream(vocabulary, text, 1);
    check_stream(vocabulary, text, 1 + text.size() / 3);
    const TokenIndex index(vocabulary, text);
    require(index.tokens() == count);
    require(vocabulary->count(index.head(count / 2)) <= count / 2);
    require(vocabulary->count(index.tail(count / 2)) <= count / 2);
}

void check_packed(std::string_view bytes) {
    try {
        static_cast<void>(Vocabulary::from_packed(bytes));
        require(false);
    } catch (const Error& error) {
        require(error.errc() == Errc::damaged);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<VocabularyPtr> vocabularies = make_vocabularies();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const VocabularyPtr& vocabulary : vocabularies) check(vocabulary, text);
    check_packed(text);
    return 0;
}
