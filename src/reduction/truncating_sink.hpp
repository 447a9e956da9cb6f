#pragma once

#include "held_text.hpp"
#include "whittle/conversation/tool.hpp"
#include "whittle/reduction/detail/truncation.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::inline v0::detail {

/// How one result is shortened.
struct TruncationLimits {
    std::int64_t max_bytes = 0;     ///< of text in the whole result
    std::int64_t max_tokens = 0;    ///< of text in the whole result; 0: no such limit
    std::int64_t head_lines = 0;    ///< of each text that is cut, under these limits; 0: as much as fits
    std::int64_t tail_lines = 0;    ///< the same at its end
    std::int64_t max_unstored = 0;  ///< bytes of a text that are shown if it cannot be stored
    std::int64_t max_held = 0;      ///< bytes of a text that are held for a store that cannot stream
    std::string read_location{};    ///< of the stored text that the result shows again: it becomes one page
    std::string_view reader{};      ///< tool that notices name, or empty
    std::string_view by{};          ///< the middleware's name
    std::shared_ptr<Storage> storage{};
    /// The key for an object, from what is in memory of the result. What it throws fails the truncation.
    std::function<std::string(std::span<const Part>)> key{};
    std::string fallback_key{};  ///< for a text that is no longer whole in memory when `key` throws
};

/// Takes what a tool writes, passes the head of a first written text on at once, and the rest when the tool has
/// returned: unchanged, or as notice and tail.
class TruncatingSink final : public PartSink {
public:
    TruncatingSink(const ToolContext& context, TruncationLimits limits, PartSink& out);

    void write(std::string_view text) override;
    void push(Part part) override;
    void mark_stored(StoredPart stored) override;
    /// Passes on what is held. Throws what a user's function throws (key, counter, `locate`), when all has been passed
    /// on.
    void finish() override;

    /// What the tool gave, where that is neither shown nor stored; to be kept in the journal.
    [[nodiscard]] std::optional<std::vector<Part>> take_original() { return std::move(original_); }

private:
    struct Item {
        Part part{};                          // what was pushed
        std::unique_ptr<HeldText> written{};  // or what is being written
        std::vector<StoredPart> stored{};     // said by who wrote it: stands for an object already
        bool is_utf8 = true;                  // known once all of it is here

        [[nodiscard]] bool is_text() const noexcept { return written || part.kind != PartKind::media; }
        [[nodiscard]] std::int64_t size() const noexcept {
            return written ? written->size() : static_cast<std::int64_t>(part.text.size());
        }
        [[nodiscard]] bool is_whole() const noexcept { return !written || written->is_whole(); }
        [[nodiscard]] const std::string& front() const noexcept { return written ? written->front() : part.text; }
        [[nodiscard]] std::string end() const { return written ? written->end() : part.text; }
    };
    /// How much of a text stays.
    struct Cut {
        std::size_t head = 0;
        std::string tail{};
    };
    /// Where the whole of a text is.
    struct Place {
        std::string key{};
        std::optional<std::size_t> element{};
        std::string failure{};
    };

    using Cuts = std::vector<std::optional<Cut>>;
    /// What becomes of each item.
    struct Decision {
        Cuts cuts{};
        std::vector<Place> places{};
        std::vector<std::string> notices{};
    };

    void pass_head();
    [[nodiscard]] std::string_view head_of(std::string_view front, std::size_t most) const noexcept;
    [[nodiscard]] std::string_view tail_of(std::string_view end, std::size_t most) const noexcept;
    [[nodiscard]] bool is_streaming() const noexcept { return items_.size() == 1 && items_.front().written; }
    [[nodiscard]] std::int64_t tokens(std::string_view text) const;
    [[nodiscard]] bool exceeds() const;
    [[nodiscard]] Cuts plan() const;
    [[nodiscard]] bool is_longer(const Item& item, std::int64_t quota, std::int64_t token_quota) const;
    [[nodiscard]] Cut cut(std::size_t item, std::int64_t quota, std::int64_t token_quota) const;
    [[nodiscard]] std::string_view fit_tokens(std::string_view text, std::int64_t limit, bool at_end) const;
    void drop_useless(Cuts& cuts, const std::string& key) const;
    [[nodiscard]] std::vector<Place> store(const Cuts& cuts, const std::string& key);
    void store_pushed(const Cuts& cuts, const std::string& key, std::vector<Place>& places);
    [[nodiscard]] Place put(const std::string& key, std::string_view content) const;
    [[nodiscard]] bool must_store(std::size_t item, const Cuts& cuts) const;
    [[nodiscard]] std::vector<Part> parts_in_memory() const;
    [[nodiscard]] bool is_page() const noexcept { return !limits_.read_location.empty(); }
    [[nodiscard]] std::string location_of(const Item& item, const Place& place) const;
    [[nodiscard]] TruncatedText facts_of(const Item& item, const Cut& cut, const Place& place) const;
    [[nodiscard]] std::string notice(const Item& item, const Cut& cut, const Place& place) const;
    [[nodiscard]] Decision decide();
    [[nodiscard]] Decision decide_alone();
    [[nodiscard]] bool needs_original(const Decision& decision) const;
    [[nodiscard]] bool stays_whole(std::size_t item, const Decision& decision) const;
    void emit(std::size_t item, const Decision& decision);
    void emit_text(std::size_t item, std::string text);
    void tell(std::string_view kind, const Item& item, const Place& place) const;

    const ToolContext& context_;
    TruncationLimits limits_;
    PartSink& out_;
    std::vector<Item> items_{};
    bool continues_ = false;         // the newest item is being written
    std::size_t passed_ = 0;         // bytes of the first item that are out
    std::int64_t passed_lines_ = 0;  // line feeds among them
    bool head_is_out_ = false;
    std::optional<std::vector<Part>> original_{};
};

}  // namespace whittle::inline v0::detail
