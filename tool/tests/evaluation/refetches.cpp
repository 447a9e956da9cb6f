#include "histories.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

bool is_close(double a, double b) { return std::abs(a - b) < 1e-6; }

/// A result of 2,000 tokens with a path, and a call that needs the path; then `after` more rounds.
History needs_a_path(int after) {
    History history;
    history.at(0)
        .user(tokens_of_text(1'500, 'u'))
        .round("list", "{}", "src/parser/lexer.cpp " + std::string(7'979, 'x'));
    history.round("wait", "{}", "").round("read", R"({"path":"src/parser/lexer.cpp"})", "int main() {}");
    for (int i = 0; i < after; ++i) history.round("wait", "{}", "");
    return history.say("done");
}

/// Figures of one profile, with a store that has these objects.
RunOptions with_objects(const char* profile, const std::vector<std::pair<std::string, std::string>>& objects) {
    RunOptions options = only(profile);
    options.storage = memory_storage();
    for (const auto& [key, content] : objects) options.storage->put_if_absent(key, content);
    return options;
}

double refetches_of(const Figures& figures) { return figures.money[0].with_refetches - figures.money[0].sent; }

}  // namespace

TEST_CASE("what is needed and lost is paid for by the call that gave it, in full", "[evaluation]") {
    const Session session = needs_a_path(0).session();
    const Figures figures = run_replacing(session, 0, {{2, "gone"}}, only("anthropic_5m"));
    CHECK(figures.refetches_by_rerun == 1);
    // The request of call 2: user, call, "gone", call, empty result.
    const double request = 1'500 + 2 + 1 + 2 + 0;
    const double at_once = 0.1 * request + 1.25 * (2'000 + 60) + 5.0 * 60;
    // In the last request it stands behind that one, which was cached whole.
    const double later = 0.1 * (2'000 + 60);
    CHECK(is_close(refetches_of(figures), at_once + later));
}

TEST_CASE("calls that are listed add up to the tokens and the money of the session, refetches included",
          "[evaluation]") {
    const Session session = needs_a_path(2).session();
    RunOptions options = only("anthropic_5m");
    options.profiles.push_back(*find_cost_profile("openai"));
    options.lists_calls = true;
    options.uncounted = {1};
    const Figures figures = run_replacing(session, 0, {{2, "gone"}}, options);
    REQUIRE(figures.by_call.size() == session.calls().size());
    CallFigures sum;
    std::vector<CallCost> costs(options.profiles.size());
    for (std::size_t i = 0; i < figures.by_call.size(); ++i) {
        const CallFigures& call = figures.by_call[i];
        CHECK(call.call == i);
        CHECK(call.is_counted == (i != 1));
        CHECK((call.costs[0].refetches > 0) == (i >= 2));
        for (std::size_t p = 0; p < costs.size(); ++p) {
            costs[p].raw += call.costs[p].raw;
            costs[p].sent += call.costs[p].sent;
            costs[p].refetches += call.costs[p].refetches;
        }
        if (!call.is_counted) continue;
        sum.raw += call.raw;
        sum.sent += call.sent;
        sum.cached_sent += call.cached_sent;
    }
    CHECK(figures.by_call[1].sent == 1'500 + 2 + 1);
    CHECK(figures.by_call[1].costs[0].sent == 0);
    CHECK(sum.raw == figures.raw);
    CHECK(sum.sent == figures.sent);
    CHECK(sum.cached_sent == figures.money[0].cached_sent);
    for (std::size_t p = 0; p < costs.size(); ++p) {
        CHECK(is_close(costs[p].raw, figures.money[p].raw));
        CHECK(is_close(costs[p].sent + costs[p].refetches, figures.money[p].with_refetches));
    }
    options.lists_calls = false;
    CHECK(run_replacing(session, 0, {{2, "gone"}}, options).by_call.empty());
}

TEST_CASE("what is needed and stored is read back in a slice", "[evaluation]") {
    const Session session = needs_a_path(0).session();
    const RunOptions options =
        with_objects("anthropic_5m", {{"conv/0001.txt", "src/parser/lexer.cpp " + std::string(39'979, 'x')}});
    const Figures figures = run_replacing(session, 0, {{2, "conv/0001.txt"}}, options);
    CHECK(figures.refetches_from_store == 1);
    CHECK(figures.refetches_by_rerun == 0);
    const double request = 1'500 + 2 + 4 + 2 + 0;
    CHECK(is_close(refetches_of(figures), 0.1 * request + 1.25 * (2'000 + 60) + 5.0 * 60 + 0.1 * (2'000 + 60)));
}

TEST_CASE("what only an object of the store names is two reads away", "[evaluation]") {
    const Session session = needs_a_path(0).session();
    const RunOptions options =
        with_objects("no_cache", {{"conv/result/1", "src/parser/lexer.cpp " + std::string(39'979, 'x')},
                                  {"conv/folded/1", "a result, cleared: conv/result/1 " + std::string(39'968, 'y')}});
    const Figures figures = run_replacing(session, 0, {{2, "conv/folded/1"}}, options);
    CHECK(figures.refetches_from_store == 2);
    CHECK(figures.refetches_by_rerun == 0);
    CHECK(figures.faults.messages_not_restorable == 0);
    const ProbeCount& asked = figures.probes[static_cast<std::size_t>(ProbeKind::action_id)][0];
    CHECK(asked.recoverable == 1);
    CHECK(asked.lost == 0);
    // The second read stands behind the first one; the request after it has both.
    const double request = 1'500 + 2 + 4 + 2 + 0;
    const double read = 2'000 + 60;
    CHECK(is_close(refetches_of(figures), (request + read + 5.0 * 60) + (request + 2 * read + 5.0 * 60) + 2 * read));
}

TEST_CASE("what was fetched stays as long as the strategy had kept the original", "[evaluation]") {
    const Session session = needs_a_path(6).session();
    const Figures briefly = run_replacing(session, 3, {{2, "gone"}}, only("no_cache"));
    CHECK(briefly.refetches_by_rerun == 0);  // gone after it was needed
    const Figures dropped = run_replacing(session, 2, {{2, "gone"}}, only("no_cache"));
    const Figures never_whole = run_replacing(session, 0, {{2, "gone"}}, only("no_cache"));
    CHECK(dropped.refetches_by_rerun == 1);
    CHECK(never_whole.refetches_by_rerun == 1);
    CHECK(is_close(refetches_of(never_whole) - refetches_of(dropped), 7 * 2'060.0));
}

TEST_CASE("what is shown needs no refetch, and what came back serves the next calls too", "[evaluation]") {
    History history = needs_a_path(0);
    history.round("read", R"({"path":"src/parser/lexer.cpp","again":true})", "").say("");
    const Session session = history.session();
    CHECK(run_control(session, "noop").refetches_by_rerun == 0);
    const Figures figures = run_replacing(session, 0, {{2, "gone"}, {5, "?"}});
    CHECK(figures.refetches_by_rerun == 1);
}

TEST_CASE("lost words of a user are asked for again", "[evaluation]") {
    const Session session = History()
                                .user("look at src/parser/lexer.cpp")
                                .round("wait", "{}", "")
                                .round("read", R"({"path":"src/parser/lexer.cpp"})", "")
                                .say("")
                                .session();
    const Figures figures = run_replacing(session, 1, {{0, "look"}});
    CHECK(figures.refetches_from_user == 1);
    CHECK(figures.refetches_by_rerun == 0);
}

namespace {

constexpr std::string_view shown_code =
    "  1→int main() {\n  2→    int sum_of_all_items = 0;\n  3→    for (int i : items)\n  4→}\n";

/// A read that shows a text with line numbers, then `edits` edits of it.
Session edited(int edits) {
    History history;
    history.user("go").round("read", "{}", std::string(shown_code) + std::string(8'000, 'x'));
    for (int i = 0; i < edits; ++i)
        history.round(
            "edit",
            R"json({"old_string":"    int sum_of_all_items = 0;\n    for (int i : items)","new_string":"none"})json",
            "ok");
    return history.say("done").session();
}

/// Each line of it stands there, and not in one piece.
const std::string single_lines = "    int sum_of_all_items = 0;\nc/1\n    for (int i : items)";

}  // namespace

TEST_CASE("an edit whose old text is there in single lines costs a read-back, where lines alone cost none",
          "[evaluation]") {
    const Figures figures = run_replacing(edited(1), 0, {{2, single_lines}}, only("no_cache"));
    const Money& money = figures.money[0];
    CHECK(is_close(money.with_line_refetches, money.sent));
    CHECK(figures.refetches_by_rerun == 1);
    CHECK(money.with_refetches > money.sent + 2'000);  // the read comes again, whole
    CHECK(is_close(run_control(edited(1), "noop", only("no_cache")).money[0].with_refetches, money.raw));
}

TEST_CASE("what an edit needs is read back from the object that has it, and stays for the next edit", "[evaluation]") {
    const RunOptions options = with_objects(
        "no_cache", {{"c/1", std::string(40'000, 'y') + "\n" + std::string(shown_code) + std::string(40'000, 'z')}});
    const Figures once = run_replacing(edited(1), 0, {{2, single_lines}}, options);
    CHECK(once.refetches_from_store == 1);
    CHECK(once.refetches_by_rerun == 0);
    const double paid = once.money[0].with_refetches - once.money[0].sent;
    CHECK(paid > 2'000);
    CHECK(paid < 2 * 2'060 + 500);  // a slice of 2,000 tokens, in the call that reads it and in the one behind it
    CHECK(run_replacing(edited(3), 0, {{2, single_lines}}, options).refetches_from_store == 1);
}

TEST_CASE("arguments in a stored object hold an old text as a JSON string does", "[evaluation]") {
    const RunOptions options = with_objects(
        "no_cache", {{"conv/1a", R"json({"content":"    int sum_of_all_items = 0;\n    for (int i : items)"})json"}});
    CHECK(run_replacing(edited(1), 0, {{2, "[all of it: conv/1a]"}}, options).refetches_from_store == 1);
}

namespace {

/// A store that notes what it is asked for.
class AskedStorage final : public Storage {
public:
    void put_if_absent(std::string_view key, std::string_view content) override { held_->put_if_absent(key, content); }
    std::optional<std::string> get(std::string_view key, std::int64_t offset, std::int64_t max_bytes) override {
        ++asked[std::string(key)];
        return held_->get(key, offset, max_bytes);
    }

    std::map<std::string, int> asked{};

private:
    std::shared_ptr<Storage> held_ = memory_storage();
};

}  // namespace

TEST_CASE("a word that names no object is asked of the store once", "[evaluation]") {
    const Session session = needs_a_path(3).session();
    const auto storage = std::make_shared<AskedStorage>();
    const std::string words = " function_of_words written/in/objects and.of.sentences. function_of_words";
    storage->put_if_absent("conv/1", words + words);
    storage->put_if_absent("conv/2", words + " conv/1");
    RunOptions options = only("no_cache");
    options.storage = storage;
    CHECK(run_replacing(session, 0, {{2, "conv/2" + words}, {4, words + " conv/1"}}, options).refetches_by_rerun == 1);
    CHECK(storage->asked.size() == 2 + 5);
    for (const auto& [key, times] : storage->asked) {
        CAPTURE(key);
        CHECK(times == 1);
    }
}

TEST_CASE("a key without an object is asked for again where its folder has others", "[evaluation]") {
    const Session session = needs_a_path(0).session();
    const auto storage = std::make_shared<AskedStorage>();
    storage->put_if_absent("conv/1", "other words");
    RunOptions options = only("no_cache");
    options.storage = storage;
    Run run(session, options);
    const std::vector<std::string> shown{"", "conv/1 and later conv/2", "conv/2 is there", "conv/2 is there"};
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        Request request;
        for (std::size_t i = 0; i < session.calls()[call]; ++i) request.rest.push_back({i, nullptr});
        if (call > 0) {
            Message changed = session.messages()[2];
            changed.content = shown[call];
            request.rest[2].message = std::make_shared<const Message>(std::move(changed));
        }
        run.send(call, request);
        if (call == 1) storage->put_if_absent("conv/2", "src/parser/lexer.cpp");
    }
    CHECK(storage->asked["conv/2"] == 2);
    CHECK(run.finish().refetches_from_store == 1);
}

TEST_CASE("of objects that several name the first in order is read", "[evaluation]") {
    const Session session = needs_a_path(0).session();
    const std::string needed = "src/parser/lexer.cpp ";
    const RunOptions options = with_objects("no_cache", {{"conv/short", needed},
                                                         {"conv/long", needed + std::string(3'979, 'x')},
                                                         {"conv/list", "conv/none conv/list conv/long conv/short"},
                                                         {"conv/none", "conv/list"}});
    const auto paid = [&](const std::string& text) {
        return refetches_of(run_replacing(session, 0, {{2, text}}, options));
    };
    // In the call that reads it and in the one behind it.
    CHECK(paid("conv/long or conv/short") > paid("conv/short or conv/long") + 1'900);
    CHECK(std::abs(paid("conv/none conv/list") - paid("conv/none conv/list conv/none")) < 20);
    CHECK(paid("conv/none conv/list") > paid("conv/short conv/list") + 1'900);
}
