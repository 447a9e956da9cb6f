// JSON in its forms: nothing lost where that is said, every name kept, hostile shapes left alone.
#include "condensing.hpp"

#include "support/generators.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::testing;

namespace {

using OrderedJson = nlohmann::ordered_json;

const CondensingConfig keeps_all{.max_lossless_json_bytes = 1 << 30};
const CondensingConfig cuts_all{.max_lossless_json_bytes = 0,
                                .cut_above_rows = 8,
                                .head_rows = 3,
                                .tail_rows = 2,
                                .max_outliers = 3,
                                .max_string_bytes = 20};

OrderedJson read_row(const OrderedJson& columns, const OrderedJson& values);

/// What a reader of the form makes of a value: rows are objects again.
OrderedJson read_form(const OrderedJson& form) {
    if (form.is_object() && form.contains("@columns") && form.contains("@rows")) {
        OrderedJson rows = OrderedJson::array();
        for (const auto& row : form["@rows"])
            rows.push_back(row.is_array() ? read_row(form["@columns"], row) : read_form(row));
        return rows;
    }
    OrderedJson value = form;
    if (form.is_structured()) {
        for (auto& inner : value) inner = read_form(inner);
    }
    return value;
}

OrderedJson read_row(const OrderedJson& columns, const OrderedJson& values) {
    OrderedJson object = OrderedJson::object();
    REQUIRE(columns.size() == values.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool is_inner = columns[i].is_object();
        const std::string name = is_inner ? columns[i].begin().key() : columns[i].get<std::string>();
        object[name] = is_inner ? read_row(columns[i].begin().value(), values[i]) : read_form(values[i]);
    }
    return object;
}

void collect_names(const OrderedJson& json, std::set<std::string>& names) {
    if (json.is_object()) {
        for (const auto& [name, value] : json.items()) names.insert(OrderedJson(name).dump());
    }
    if (!json.is_structured()) return;
    for (const auto& inner : json) collect_names(inner, names);
}

/// Objects and arrays of all shapes, many of them alike.
OrderedJson random_value(Dice& dice, int levels) {
    static const std::vector<std::string> names{"id", "name", "size", "tags", "owner", "äö", "a\"b", "", "error"};
    static const std::vector<std::string> texts{"",
                                                "x",
                                                "two words",
                                                "ünïcödé 中文",
                                                "line\nbreak \\ \"q\"",
                                                "…(3 left out)",
                                                "a much longer text that goes on and on, and then some more of it"};
    const std::size_t kind = dice.below(levels > 0 ? 9 : 5);
    if (kind == 0) return nullptr;
    if (kind == 1) return static_cast<int>(dice.below(2'000)) - 500;
    if (kind == 2) return dice.one_in(2);
    if (kind <= 4) return dice.pick(texts);
    if (kind == 5) {
        OrderedJson object = OrderedJson::object();
        for (std::size_t i = dice.below(5); i > 0; --i) object[dice.pick(names)] = random_value(dice, levels - 1);
        return object;
    }
    OrderedJson array = OrderedJson::array();
    const OrderedJson model = random_value(dice, levels - 1);
    for (std::size_t i = dice.below(30); i > 0; --i) {
        if (!model.is_object() || dice.one_in(9)) {
            array.push_back(random_value(dice, levels - 1));
            continue;
        }
        OrderedJson like = model;
        for (auto& member : like) {
            if (!member.is_object()) member = random_value(dice, 0);
        }
        array.push_back(like);
    }
    return array;
}

std::string printed(const OrderedJson& json, std::size_t seed) { return json.dump(seed % 2 == 0 ? 2 : -1); }

}  // namespace

TEST_CASE("like objects become rows under their names, numbers byte for byte", "[condensing]") {
    const std::string text = R"([{"id": 12345678901234567890123, "p": 1.50, "who": {"name": "a", "mail": "m"}},
        {"id": 2, "p": -0.0, "who": {"name": "b", "mail": "n"}},
        {"id": 3, "p": 1E400000, "who": {"name": "c", "mail": "o"}}])";
    CHECK(form_of_text(text).empty());  // a number that no double has: some parsers refuse it
    const std::string fine = R"([{"id": 12345678901234567890123, "p": 1.50, "who": {"name": "a", "mail": "m"}},
        {"id": 2, "p": -0.0, "who": {"name": "b", "mail": "n"}},
        {"id": 3, "p": 1E4, "who": {"name": "c", "mail": "o"}}])";
    CHECK(form_of_text(fine) == R"({"@columns":["id","p",{"who":["name","mail"]}],"@rows":[
[12345678901234567890123,1.50,["a","m"]],
[2,-0.0,["b","n"]],
[3,1E4,["c","o"]]]})");
}

TEST_CASE("an object with other names stays an object among the rows", "[condensing]") {
    const std::string text = R"([{"name": "a", "number": 1}, {"name": "b", "number": 2}, {"name": "c", "why": "gone"},
        {"name": "d", "number": 4}, {"name": "e", "number": 5}])";
    CHECK(form_of_text(text) == R"({"@columns":["name","number"],"@rows":[
["a",1],
["b",2],
{"name":"c","why":"gone"},
["d",4],
["e",5]]})");
}

TEST_CASE("names that come twice, and the order of names, stay", "[condensing]") {
    CHECK(form_of_text(R"({ "b": 1, "a": 2, "b": 3, "nested": { "z": [ ], "y": { } } })") ==
          "{\n\"b\":1,\n\"a\":2,\n\"b\":3,\n\"nested\":{\"z\":[],\"y\":{}}}");
}

TEST_CASE("a long array keeps its ends, errors and extreme values, and says what it left out", "[condensing]") {
    std::string text = "[";
    for (int i = 0; i < 200; ++i) {
        const std::string status = i == 77 ? "failed" : "ok";
        const int size = i == 123 ? 999'999 : 500 + i % 10;
        text += (i > 0 ? "," : "") + std::string("{\"job\": ") + std::to_string(i) + ", \"status\": \"" + status +
                "\", \"size\": " + std::to_string(size) + (i == 150 ? R"(, "note": "odd")" : "") + "}";
    }
    const std::string form = form_of_text(text + "]", cuts_all);
    for (const char* row : {"[0,\"ok\",500]", "[199,\"ok\",509]", "[77,\"failed\",507]", "[123,\"ok\",999999]",
                            R"({"job":150,"status":"ok","size":500,"note":"odd"})", "\n…(74 left out),"})
        CHECK(has(form, row));
    CHECK(form.size() < 600);
}

TEST_CASE("a long string keeps both ends, cut between characters and escapes", "[condensing]") {
    const std::string text = R"({"log": ")" + repeat(R"(\u00e9\n中\"文)", 200) + R"(", "end": 1})";
    const std::string form = form_of_text(text, cuts_all);
    CHECK(has(form, "bytes left out)…\""));
    CHECK(is_valid_utf8(form));
    const std::size_t head = form.find("\"…(");
    const std::size_t tail = form.find(")…\"") + std::string(")…").size();
    REQUIRE(head != std::string::npos);
    const std::size_t begin = form.find(":\"") + 1;
    CHECK(nlohmann::json::accept(form.substr(begin, head + 1 - begin)));
    CHECK(nlohmann::json::accept(form.substr(tail, form.find(",\n\"end\"") - tail)));
}

TEST_CASE("the form of any JSON has all its names; the lossless one is read back to an equal value", "[condensing]") {
    std::size_t tables = 0;
    for (std::size_t seed = 0; seed < 250; ++seed) {
        Dice dice(seed);
        OrderedJson json = random_value(dice, 4);
        if (!json.is_structured()) json = OrderedJson::array({json});
        const std::string text = printed(json, seed);
        INFO("seed " << seed << ": " << text);
        const auto whole = condense(text, keeps_all, Language::english);
        REQUIRE(whole);
        CHECK(whole->is_lossless);
        REQUIRE(OrderedJson::accept(whole->text));
        CHECK(read_form(OrderedJson::parse(whole->text)) == json);
        tables += has(whole->text, "@rows") ? 1 : 0;
        const auto cut = condense(text, cuts_all, Language::english);
        REQUIRE(cut);
        std::set<std::string> names;
        collect_names(json, names);
        for (const std::string& name : names) CHECK(has(cut->text, name));
        CHECK(is_valid_utf8(cut->text));
        CHECK(cut->is_lossless == OrderedJson::accept(cut->text));
        CHECK(condense(text, cuts_all, Language::english)->text == cut->text);
    }
    CHECK(tables > 15);
}

TEST_CASE("lines of JSON are rows, or values a line each", "[condensing]") {
    std::string like;
    std::string other;
    for (int i = 0; i < 5; ++i) {
        like += R"({"level": "info", "message": "step )" + std::to_string(i) + "\"}\n";
        other += R"({ "n)" + std::to_string(i) + "\": 1 }\n";
    }
    CHECK(has(form_of_text(like), "{\"@columns\":[\"level\",\"message\"],\"@rows\":[\n[\"info\",\"step 0\"],"));
    CHECK(form_of_text(other) == "{\"n0\":1}\n{\"n1\":1}\n{\"n2\":1}\n{\"n3\":1}\n{\"n4\":1}");
}

TEST_CASE("what is no JSON is not touched", "[condensing]") {
    const std::string rows = json_rows(60);
    const std::vector<std::string> texts{rows.substr(0, rows.size() - 3),
                                         rows + "}",
                                         "[1,2,]",
                                         "{\"a\":01}",
                                         std::string("[1\0]", 4),
                                         "{'a':1}",
                                         "[NaN]",
                                         "\xEF\xBB\xBF[1]x",
                                         "[\"\xFF\"]",
                                         "{\"a\" 1}",
                                         "[1 2]",
                                         "[\"\\x\"]"};
    for (const std::string& text : texts) {
        CHECK(form_of_text(text).empty());
    }
}

TEST_CASE("what says that it is our form already gets no rows", "[condensing]") {
    const std::string text =
        R"([{"@columns": 1, "@rows": 2}, {"@columns": 3, "@rows": 4}, {"@columns": 5, "@rows": 6}])";
    CHECK(form_of_text(text) ==
          "[\n{\"@columns\":1,\"@rows\":2},\n{\"@columns\":3,\"@rows\":4},\n{\"@columns\":5,\"@rows\":6}]");
}

TEST_CASE("what a tool says before its JSON stays in front of the form", "[condensing]") {
    const std::string head = "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n";
    const std::string form = form_of_text(head + json_rows(5));
    CHECK(form.starts_with(head + "{\"@columns\""));
}

TEST_CASE("objects of very many values stay objects", "[condensing]") {
    std::string object = "{";
    for (int i = 0; i < 50; ++i) object += (i > 0 ? "," : "") + std::string("\"field") + std::to_string(i) + "\": 1";
    const std::string text = "[" + object + "}," + object + "}," + object + "}]";
    CHECK_FALSE(has(form_of_text(text), "@columns"));
}
