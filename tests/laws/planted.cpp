// Each law can fail: a middleware that breaks it, and only a little, is caught.
#include "support/laws.hpp"
#include "support/laws_random_editor.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>

using namespace whittle;
using namespace whittle::testing;

namespace {

using M = ChatMessage;
using Work = std::function<void(Turn<M>&)>;

class Planted final : public Middleware<M> {
public:
    explicit Planted(Work work) : work_(std::move(work)) {}
    std::string_view name() const noexcept override { return "planted"; }
    void before_model(Turn<M>& turn) override { work_(turn); }

private:
    Work work_;
};

Failures try_law(std::string_view id, const Work& work, LawOptions options = {}) {
    return check_law(law<M>(id), subject_of<M>([work](auto) { return Planted(work); }, std::move(options)));
}

/// The oldest result that may be shortened and has not been yet; or, with `again`, has been.
std::optional<std::size_t> oldest_result(const Transaction<M>& edit, bool again = false) {
    for (std::size_t i = 0; i < edit.outline().size(); ++i) {
        const MessageInfo& info = edit.outline()[i];
        if (edit.is_protected(i) || !info.has(PartKind::tool_result) || info.parts.size() != 1 ||
            info.parts[0].tool == "skill")
            continue;
        if (info.parts[0].text_bytes > 100 && (again || !info.parts[0].mark)) return i;
    }
    return std::nullopt;
}

void shorten(Turn<M>& turn, const std::string& text, const CommitOptions& options = {},
             std::vector<std::string> stored = {}) {
    auto edit = turn.edit();
    const auto result = oldest_result(edit);
    if (!result) return;
    edit.set_text(*result, 0, text,
                  {.origin = Origin::placeholder, .reason = "shorten", .stored_keys = std::move(stored)});
    edit.commit(options);
}

/// Shortens the oldest result, once for each state of the conversation.
void shorten_once(Turn<M>& turn, const std::string& text, const CommitOptions& options = {}) {
    if (turn.notes().integer("done_at") == static_cast<std::int64_t>(turn.conversation.version())) return;
    shorten(turn, text, options);
    turn.notes().set("done_at", static_cast<std::int64_t>(turn.conversation.version()));
}

void write_behind_the_back(Turn<M>& turn) {
    const auto messages = turn.conversation.messages();
    if (messages.empty() || messages[0].parts.empty()) return;
    const_cast<M&>(messages[0]).parts[0].text += "!";
}

/// Says that it has everything and has nothing.
class LyingStorage final : public Storage {
public:
    void put_if_absent(std::string_view, std::string_view) override {}
    std::optional<std::string> get(std::string_view, std::int64_t, std::int64_t) override { return std::nullopt; }
};

}  // namespace

TEST_CASE("the planted middleware without a fault keeps every law", "[laws]") {
    for (const Law<M>& each : all_laws<M>())
        CHECK(try_law(each.id, [](Turn<M>& turn) { shorten_once(turn, "[short]"); }) == Failures{});
}

TEST_CASE("L1 catches a middleware that orphans results where nothing is verified", "[laws]") {
    const auto editor = [](auto) { return RandomEditor<M>{1}; };
    CHECK_FALSE(check_law(law<M>("L1"), subject_of<M>(editor, {.verify = false})).empty());
    CHECK(check_law(law<M>("L1"), subject_of<M>(editor)).empty());
}

TEST_CASE("L2 catches a placeholder that names an object which nobody wrote", "[laws]") {
    CHECK_FALSE(try_law("L2", [](Turn<M>& turn) { shorten(turn, "[short]", {}, {"laws/never-written"}); }).empty());
}

TEST_CASE("L2 and L3 catch a store that forgets what it acknowledged", "[laws]") {
    const LawOptions options{.make_storage = [] { return std::make_shared<LyingStorage>(); }};
    const Work offload = [](Turn<M>& turn) {
        auto edit = turn.edit();
        const auto result = oldest_result(edit);
        if (!result) return;
        const Serial serial = edit.outline()[*result].serial;
        const std::string key = "laws/" + std::to_string(serial);
        edit.store_on_commit(key, text_of(edit.messages()[*result], 0), Transaction<M>::Original{serial, 0});
        edit.set_text(*result, 0, "[short]",
                      {.origin = Origin::placeholder, .reason = "shorten", .stored_keys = {key}});
        edit.commit();
    };
    CHECK_FALSE(try_law("L2", offload, options).empty());
    CHECK_THROWS_AS(try_law("L3", offload, options), Error);  // undo says that the object is missing
    CHECK(try_law("L2", offload).empty());
    CHECK(try_law("L3", offload).empty());
}

TEST_CASE("L3 and L4 catch an edit past the transaction", "[laws]") {
    CHECK_FALSE(try_law("L3", write_behind_the_back).empty());
    CHECK_FALSE(try_law("L4", write_behind_the_back).empty());
}

TEST_CASE("L4 catches a report that names another message as the first change", "[laws]") {
    CHECK_FALSE(try_law("L4", [](Turn<M>& turn) {
                    shorten_once(turn, "[short]");
                    if (turn.report.outcome == Outcome::committed) ++*turn.report.details->first_changed;
                }).empty());
}

TEST_CASE("L5 catches a middleware that goes on cutting what it has cut", "[laws]") {
    CHECK_FALSE(try_law("L5", [](Turn<M>& turn) {
                    auto edit = turn.edit();
                    const auto result = oldest_result(edit, true);
                    if (!result) return;
                    const std::string text = text_of(edit.messages()[*result], 0);
                    edit.set_text(*result, 0, text.substr(0, text.size() / 2),
                                  {.origin = Origin::placeholder, .reason = "halve"});
                    edit.commit();
                }).empty());
}

TEST_CASE("L6 catches a commit that makes the history longer", "[laws]") {
    CHECK_FALSE(try_law("L6", [](Turn<M>& turn) {
                    shorten_once(turn, std::string(9'000, 'l'), {.require_token_reduction = false});
                }).empty());
}

TEST_CASE("L7 catches a middleware that edits the newest user message", "[laws]") {
    CHECK_FALSE(try_law("L7", [](Turn<M>& turn) {
                    auto edit = turn.edit();
                    const auto user = edit.outline().newest_turn_start();
                    if (!user || edit.outline()[*user].parts.size() != 1) return;
                    edit.allow_editing_pinned(true);
                    edit.set_text(*user, 0, "?", {.origin = Origin::placeholder, .reason = "ask"});
                    edit.commit();
                }).empty());
}

TEST_CASE("L7 catches a clearing middleware that does not know protected tools", "[laws]") {
    CHECK_FALSE(try_law("L7", [](Turn<M>& turn) {
                    auto edit = turn.edit();
                    for (std::size_t i = 0; i < edit.outline().size(); ++i) {
                        const MessageInfo& info = edit.outline()[i];
                        if (edit.is_protected(i) || info.parts.size() != 1 || info.parts[0].tool != "skill" ||
                            info.parts[0].mark)
                            continue;
                        if (info.role == Role::tool)
                            edit.set_text(i, 0, "", {.origin = Origin::placeholder, .reason = "clear"});
                    }
                    edit.commit();
                }).empty());
}

TEST_CASE("L8 catches a middleware that remembers something outside of the conversation", "[laws]") {
    const auto runs = std::make_shared<int>(0);
    CHECK_FALSE(try_law("L8", [runs](Turn<M>& turn) {
                    shorten_once(turn, "[short " + std::to_string(++*runs) + "]");
                }).empty());
}

TEST_CASE("L9 catches a middleware that fails after it has written past the transaction", "[laws]") {
    CHECK_FALSE(try_law("L9", [](Turn<M>& turn) {
                    write_behind_the_back(turn);
                    throw Error(Errc::callback_failed, "planted");
                }).empty());
}

TEST_CASE("L9 accepts a middleware that fails after a commit, since the hook is undone", "[laws]") {
    CHECK(try_law("L9", [](Turn<M>& turn) {
              shorten(turn, "[short]");
              turn.notes().set("trace", std::string("left"));
              throw Error(Errc::callback_failed, "planted");
          }) == Failures{});
}

TEST_CASE("L11 catches a middleware that takes text for a mark of its own", "[laws]") {
    CHECK_FALSE(try_law("L11", [](Turn<M>& turn) {
                    auto edit = turn.edit();
                    const auto result = oldest_result(edit);
                    if (!result || text_of(edit.messages()[*result], 0).starts_with("[Old ")) return;
                    edit.set_text(*result, 0, "[short]", {.origin = Origin::placeholder, .reason = "shorten"});
                    edit.commit();
                }).empty());
}
