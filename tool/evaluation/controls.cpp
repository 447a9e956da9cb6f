#include "characters.hpp"
#include "evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace whittle::inline v0::evaluation {
namespace {

/// Results of up to so many characters are left as they are.
constexpr std::int64_t worth_masking = 200;

/// A session as a control sends it: every message, some of them with another text. What was changed stays changed.
class EditedSession {
public:
    EditedSession(const Session& session, TakeRequest take)
        : session_(session), take_(take), edited_(session.messages().size()) {}

    [[nodiscard]] bool is_result(std::size_t message) const { return session_.messages()[message].role == Role::tool; }
    [[nodiscard]] bool is_worth_masking(std::size_t message) const {
        return is_result(message) && session_.characters_of(message) > worth_masking;
    }

    void replace(std::size_t message, std::string text) {
        Message edited = session_.messages()[message];
        edited.content = std::move(text);
        edited.media = 0;
        edited.blocks = 1;
        edited_[message] = std::make_shared<const Message>(std::move(edited));
        first_changed_ = std::min(first_changed_, message);
    }

    static std::string placeholder(std::int64_t characters) {
        return fmt::format("[{} characters of old tool output omitted]", characters);
    }
    void mask(std::size_t message) {
        if (!edited_[message]) replace(message, placeholder(session_.characters_of(message)));
    }

    void send(std::size_t call) {
        const std::size_t end = session_.calls()[call];
        Request request{.keep = std::min(sent_, first_changed_)};
        for (std::size_t i = request.keep; i < end; ++i) request.rest.push_back({i, edited_[i]});
        sent_ = end;
        first_changed_ = SIZE_MAX;
        take_(call, request);
    }

private:
    const Session& session_;
    TakeRequest take_;
    std::vector<std::shared_ptr<const Message>> edited_;
    std::size_t first_changed_ = SIZE_MAX;
    std::size_t sent_ = 0;
};

void send_everything(const Session& session, TakeRequest take) {
    EditedSession edited(session, take);
    for (std::size_t call = 0; call < session.calls().size(); ++call) edited.send(call);
}

/// Masks the results that are `Window` model calls old, every `Step` calls.
template <std::size_t Window, std::size_t Step>
void mask_old(const Session& session, TakeRequest take) {
    EditedSession edited(session, take);
    std::size_t masked_to = 0;
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        const std::size_t reply = session.calls()[call];
        const std::size_t turn = session.turn_of(reply);
        if (turn >= Window) {
            const std::size_t newest = (turn - Window) / Step * Step;
            for (; masked_to < reply && session.turn_of(masked_to) <= newest; ++masked_to) {
                if (edited.is_worth_masking(masked_to)) edited.mask(masked_to);
            }
        }
        edited.send(call);
    }
}

std::int64_t tokens_of(std::int64_t characters) { return (characters + 3) / 4; }

/// Above `Trigger` tokens of messages, masks all results but the newest `Keep`.
template <std::int64_t Trigger, std::size_t Keep>
void clear_above(const Session& session, TakeRequest take) {
    EditedSession edited(session, take);
    std::vector<std::size_t> open;  // results that are not masked
    std::int64_t tokens = 0;
    std::size_t seen = 0;
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        for (; seen < session.calls()[call]; ++seen) {
            tokens += tokens_of(session.characters_of(seen));
            if (edited.is_result(seen)) open.push_back(seen);
        }
        if (tokens > Trigger && open.size() > Keep) {
            for (std::size_t i = 0; i < open.size() - Keep; ++i) {
                if (!edited.is_worth_masking(open[i])) continue;
                const std::int64_t characters = session.characters_of(open[i]);
                const auto left = static_cast<std::int64_t>(EditedSession::placeholder(characters).size());
                tokens += tokens_of(left) - tokens_of(characters);
                edited.mask(open[i]);
            }
            open.erase(open.begin(), open.end() - static_cast<std::ptrdiff_t>(Keep));
        }
        edited.send(call);
    }
}

/// The first 900 and the last 700 of more than 1,800 characters.
std::string head_and_tail(const std::string& text, std::int64_t characters) {
    constexpr std::int64_t head = 900;
    constexpr std::int64_t tail = 700;
    return fmt::format("{}\n\n[... {} chars truncated ...]\n\n{}", first_characters(text, head),
                       characters - head - tail, last_characters(text, tail));
}

/// Cuts long results to head and tail once `Keep` newer ones are there.
template <std::size_t Keep>
void cut_to_ends(const Session& session, TakeRequest take) {
    constexpr std::int64_t longest = 1'800;
    EditedSession edited(session, take);
    std::vector<std::size_t> results;
    std::size_t seen = 0;
    std::size_t cut = 0;
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        for (; seen < session.calls()[call]; ++seen) {
            if (edited.is_result(seen)) results.push_back(seen);
        }
        for (; cut + Keep < results.size(); ++cut) {
            const std::int64_t characters = session.characters_of(results[cut]);
            if (characters > longest)
                edited.replace(results[cut], head_and_tail(session.messages()[results[cut]].content, characters));
        }
        edited.send(call);
    }
}

/// The messages of the newest `Calls` model calls, and all of the user's.
template <std::size_t Calls>
void slide_window(const Session& session, TakeRequest take) {
    for (std::size_t call = 0; call < session.calls().size(); ++call) {
        const std::size_t reply = session.calls()[call];
        const std::size_t turn = session.turn_of(reply);
        Request request;
        for (std::size_t i = 0; i < reply; ++i) {
            if (session.turn_of(i) + Calls > turn || session.messages()[i].role == Role::user)
                request.rest.push_back({i, nullptr});
        }
        take(call, request);
    }
}

}  // namespace

std::span<const Control> controls() noexcept {
    static constexpr std::array<Control, 12> all{{
        {"noop", "sends everything", &send_everything},
        {"mask10", "masks all but the newest 10 rounds of results, at every call", &mask_old<10, 1>},
        {"mask10_step10", "the same, moved every 10 calls", &mask_old<10, 10>},
        {"mask10_step25", "the same, moved every 25 calls", &mask_old<10, 25>},
        {"mask3_step10", "masks all but the newest 3 rounds, moved every 10 calls", &mask_old<3, 10>},
        {"mask2", "masks all but the newest round, at every call", &mask_old<2, 1>},
        {"clear30k_keep3", "above 30,000 tokens masks all but the newest 3 results", &clear_above<30'000, 3>},
        {"clear100k_keep3", "the same above 100,000 tokens", &clear_above<100'000, 3>},
        {"clear160k_keep1", "above 160,000 tokens masks all but the newest result", &clear_above<160'000, 1>},
        {"headtail_arrival", "cuts results above 1,800 characters to head and tail when they arrive", &cut_to_ends<0>},
        {"headtail_later", "the same, once two newer results are there", &cut_to_ends<2>},
        {"window20", "the messages of the newest 20 calls and all of the user's", &slide_window<20>},
    }};
    return all;
}

const Control* find_control(std::string_view name) noexcept {
    const auto all = controls();
    const auto found = std::ranges::find(all, name, &Control::name);
    return found == all.end() ? nullptr : &*found;
}

}  // namespace whittle::inline v0::evaluation
