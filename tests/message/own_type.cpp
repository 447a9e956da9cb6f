// A message type of one's own, in five functions (note.hpp).
#include "note.hpp"

#include "support/catch.hpp"
#include "whittle/message/validity.hpp"

#include <span>
#include <string>
#include <vector>

TEST_CASE("a message type of one's own is read and edited through its traits", "[message]") {
    Note note{true, "hello"};
    CHECK(whittle::text_of(note) == "hello");
    whittle::message_traits<Note>::set_text(note, 0, "bye");
    CHECK(note.text == "bye");
    CHECK(whittle::same_message(note, Note{true, "bye"}));
    CHECK_FALSE(whittle::same_message(note, Note{false, "bye"}));
    CHECK_FALSE(whittle::same_message(note, Note{true, "hello"}));
    whittle::message_traits<Note>::erase_part(note, 0);
    CHECK(whittle::parts_of(note).empty());
}

TEST_CASE("a list of one's own messages is checked without a conversation", "[message]") {
    const std::vector<Note> notes{{true, "hello"}, {false, "\xFF"}};
    const std::vector<whittle::Violation> found = whittle::validate(std::span(notes), whittle::openai_chat());
    REQUIRE(found.size() == 1);
    CHECK(whittle::to_string(found[0].rule) == "G1");
    CHECK(found[0].message_index == 1);
    CHECK(found[0].text == "a text part is not valid UTF-8");
}

TEST_CASE("a profile of one's own is a changed copy", "[message]") {
    whittle::ValidityProfile mine = whittle::openai_chat();
    mine.name = "mine";
    mine.rules.push_back(whittle::Rule::OC6_last_role);
    const std::vector<Note> notes{{true, "hello"}, {false, "bye"}};
    CHECK(whittle::validate(std::span(notes), mine).size() == 1);
    CHECK(whittle::validate(std::span(notes), whittle::openai_chat()).empty());
}
