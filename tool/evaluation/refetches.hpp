#pragma once

#include "named_objects.hpp"
#include "prefix_tree.hpp"
#include "shown_messages.hpp"
#include "stored_texts.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whittle::inline v0::evaluation {

/// What a call needed and did not find in its request.
struct Missing {
    std::span<const Needle> needles{};
    std::span<const EditProbe* const> edits{};  ///< whose old text is not there in one piece
};

/// What one call pays because something it needed was not in its request: the sources of that are fetched again, from
/// the store by a read-back, else by the call that gave them or by asking the user. What was fetched stays in later
/// requests for as long as the strategy had kept the original.
class Refetches {
public:
    Refetches(const SessionData& session, ShownMessages& shown, NamedObjects& objects, StoredTexts& stored,
              std::span<const CostProfile> profiles)
        : session_(session),
          shown_(shown),
          objects_(objects),
          stored_(stored),
          profiles_(profiles),
          money_(profiles.size()) {}

    /// `cached`: of the request, by profile.
    void pay(std::size_t call, const Missing& missing, std::span<const Cached> cached);

    /// By profile, of all calls.
    [[nodiscard]] const std::vector<double>& money() const noexcept { return money_; }
    [[nodiscard]] std::int64_t recovered() const noexcept { return recovered_; }
    [[nodiscard]] std::int64_t rerun() const noexcept { return rerun_; }
    [[nodiscard]] std::int64_t asked() const noexcept { return asked_; }

    /// An object that a read-back reaches.
    struct Found {
        ObjectId object = 0;
        std::optional<ObjectId> named_in{};  ///< the object that has its name, if only that is named in the request
    };

    /// The object that holds `needle` and is named in the request or, else, in an object that is.
    [[nodiscard]] std::optional<Found> object_with(Needle needle);
    /// The one that holds the old text in one piece.
    [[nodiscard]] std::optional<Found> object_with(const EditProbe& edit);

private:
    enum class Source : std::uint8_t { object, tool, user };

    struct Fetched {
        Source source = Source::tool;
        ObjectId object = 0;
        std::size_t message = 0;  // the recorded one that it comes from
        std::string slice{};      // object: what was read of it; else the whole message
        std::int64_t tokens = 0;  // with the output of the call that fetched it
        std::int64_t output = 0;
        std::size_t place = 0;               // the recorded message that it stands in front of
        std::optional<std::size_t> until{};  // the first call without it
    };

    void drop_old(std::size_t call);
    void pay_for_kept(std::span<const Cached> cached);
    void pay_for_new(std::vector<Fetched>& done);
    template <typename Need>
    void fetch_unless_kept(const Need& need, std::vector<Fetched>& done);
    template <typename Messages, typename Holds>
    [[nodiscard]] std::optional<Found> find_object(const Messages& messages, Holds holds);
    void read_first(ObjectId object, std::size_t message, std::vector<Fetched>& done) const;
    [[nodiscard]] bool holds(const Fetched& fetched, Needle needle) const;
    [[nodiscard]] bool holds(const Fetched& fetched, const EditProbe& edit) const;
    [[nodiscard]] Fetched from_object(ObjectId object, Needle needle) const;
    [[nodiscard]] Fetched from_object(ObjectId object, const EditProbe& edit) const;
    [[nodiscard]] Fetched slice_of_object(ObjectId object, std::size_t message, std::size_t at,
                                          std::int64_t characters) const;
    [[nodiscard]] Fetched from_call(Needle needle) const;
    [[nodiscard]] Fetched from_call(const EditProbe& edit) const;
    [[nodiscard]] Fetched whole_message(std::size_t message, Source source) const;
    [[nodiscard]] std::optional<std::size_t> calls_kept(std::size_t message) const;
    [[nodiscard]] std::int64_t output_of_call(std::size_t result) const;
    [[nodiscard]] std::optional<std::size_t> newest_with(Needle needle, Role role) const;

    const SessionData& session_;
    ShownMessages& shown_;
    NamedObjects& objects_;
    StoredTexts& stored_;
    std::span<const CostProfile> profiles_;
    std::size_t call_ = 0;
    std::vector<Fetched> kept_{};
    std::vector<double> money_;
    std::int64_t recovered_ = 0;
    std::int64_t rerun_ = 0;
    std::int64_t asked_ = 0;
};

}  // namespace whittle::inline v0::evaluation
