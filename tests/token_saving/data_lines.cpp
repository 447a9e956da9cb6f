// What word compression leaves whole outside of code fences, and the words that carry logic.
#include "support/catch.hpp"
#include "whittle/token_saving/classifiers.hpp"
#include "whittle/token_saving/detail/words.hpp"

#include <string>
#include <string_view>
#include <vector>

using namespace whittle;

namespace {

const WordClassifier drops_everything = [](Words words) { return std::vector<bool>(words.size(), false); };

/// Long enough to be compressed, and all of it may go.
std::string prose_around(std::string_view lines) {
    std::string prose;
    for (int i = 0; i < 12; ++i) prose += "the people talked about their work and found it quite pleasant\n";
    return prose + "\n" + std::string(lines) + "\n\n" + prose;
}

void check_whole(std::string_view lines) {
    CAPTURE(lines);
    const std::string text = prose_around(lines);
    const std::string left = compress_words(text, drops_everything, 0.3, {.min_content_words = 1});
    CHECK(left.find(lines) != std::string::npos);
    CHECK(left.size() < text.size() / 2 + lines.size());
}

}  // namespace

TEST_CASE("settings outside of a fence stay whole", "[token_saving]") {
    check_whole("[errors]\nmessage = could not connect\nlog level=very loud and clear\nretries := as many as it takes");
    check_whole(
        "message: could not connect\non failure: see below\nsteps:\n- open the door\n- say hello to all\nname: the "
        "end");
    check_whole("description: |\n  this is text of the value\n  which goes on here\nowner: the team");
    check_whole("- name: install the package\n  run: apt install it\n- name: start the server\n  run: start it");
    check_whole("\"quoted key\": some value of many words");
}

TEST_CASE("rows of a table outside of a fence stay whole", "[token_saving]") {
    check_whole("name,home town,favourite dish\nanna,at the sea,soup of the day\nbob,in the hills,bread and butter");
    check_whole(
        "name, home town, favourite dish\nanna, at the sea, soup of the day\nbob, in the hills, bread and butter");
    check_whole("| who | where it is |\n|---|---|\n| anna | at the sea |");
    check_whole("who\twhere it is\nanna\tat the sea");
    check_whole("name;home town;dish\nanna;at the sea;soup");
    check_whole("\"anna\",\"lives at the sea\",\"likes soup\"");
}

TEST_CASE("a difference of prose stays whole, without a fence too", "[token_saving]") {
    check_whole(
        "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,4 +1,4 @@\n this line is not changed at all\n"
        "-the server starts with the client\n+the server starts ahead of the client\n and so is this one\n\n"
        "\\ No newline at end of file");
    check_whole("@@ -3 +3 @@ under some heading\n-one word is enough\n+no word is enough");
    check_whole("3c3\n< the server starts with the client\n---\n> the server starts ahead of the client");
    check_whole("+added without a hunk header\n-removed without one as well");
    check_whole("*** 1,2 ****\n! what was changed here");
}

TEST_CASE("prose behind a hunk, and lists, are prose again", "[token_saving]") {
    const std::string text =
        prose_around("@@ -1 +1 @@\n-old words stay\n+new words stay\nthese words belong to no hunk");
    const std::string left = compress_words(text, drops_everything, 0.3, {.min_content_words = 1});
    CHECK(left.find("belong") == std::string::npos);
    const std::string list = prose_around("- we talked about the work\n- we found it pleasant, quite so");
    CHECK(compress_words(list, drops_everything, 0.3, {.min_content_words = 1}).find("talked") == std::string::npos);
}

TEST_CASE("commas of prose make no table", "[token_saving]") {
    const std::string text =
        prose_around("they came, they saw, they left\nnobody said, with a smile, 1,000 words\nit was quiet");
    const std::string left = compress_words(text, drops_everything, 0.3, {.min_content_words = 1});
    CHECK(left.find("they came") == std::string::npos);
    CHECK(left.find("quiet") == std::string::npos);
}

TEST_CASE("words that carry a condition, an order, a degree or a duty stay", "[token_saving]") {
    for (const std::string_view word :
         {"if",      "If",     "unless", "until",  "before", "after", "then",   "when",   "otherwise", "only",
          "must",    "should", "or",     "either", "first",  "last",  "always", "less",   "than",      "except",
          "however", "bevor",  "wenn",   "sinon",  "hasta",  "prima", "depois", "voordat"}) {
        CAPTURE(word);
        CHECK(is_protected_word(word));
    }
    for (const std::string_view word : {"the", "of", "and", "people", "quite", "found", "is", "a"}) {
        CAPTURE(word);
        CHECK_FALSE(is_protected_word(word));
    }
    const std::string text =
        prose_around("restart the server only if the disk is full, until then wait before writing");
    const std::string left = compress_words(text, drops_everything, 0.3, {.min_content_words = 1});
    CHECK(left.find("only if") != std::string::npos);
    CHECK(left.find("until then") != std::string::npos);
    CHECK(left.find("before") != std::string::npos);
}

TEST_CASE("a hunk that promises more lines than any text has is no harm", "[token_saving]") {
    for (const std::string_view header :
         {"@@ -1,99999999999999999999 +1,3 @@", "@@ -1,9223372036854775807 +1,9223372036854775807 @@", "@@ -,-5 +,x @@",
          "@@ -", "@@ - +"}) {
        const std::string text = prose_around(std::string(header) + "\n-old\n+new\nplain words again");
        CHECK_FALSE(compress_words(text, drops_everything, 0.3, {.min_content_words = 1}).empty());
    }
}
