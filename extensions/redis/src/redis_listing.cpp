#include "redis_listing.hpp"

#include "redis_scripts.hpp"
#include "whittle/base/error.hpp"

#include <algorithm>
#include <deque>
#include <queue>
#include <utility>

namespace whittle::inline v0 {
namespace {

/// All shards are read ahead by so many: what is held is 256 times as much at most.
constexpr std::size_t entries_of_a_page = 64;

/// Objects for which a listing has the deadline anew: as many as are read ahead.
constexpr std::int64_t objects_of_a_deadline = std::int64_t{redis_shards} * std::int64_t{entries_of_a_page};

/// One shard's index, page by page.
class ShardListing {
public:
    /// `until` is when all of the listing has to be done; it outlives this.
    ShardListing(RedisStore& store, int shard, std::string_view prefix, const RedisDeadline& until)
        : store_(&store),
          shard_(shard),
          until_(&until),
          prefix_(prefix),
          index_(store.names().index(shard)),
          from_("[") {
        from_ += prefix;
    }

    /// What asks for the next page.
    [[nodiscard]] RedisWords next_command() const {
        return {"ZRANGEBYLEX", index_, from_, "+", "LIMIT", "0", page_limit};
    }

    /// Whether this is the next page, or nothing of the kind.
    [[nodiscard]] bool fits(const redisReply& page) const {
        const auto members = elements_of(page);
        if (!is_array(page) || members.size() > entries_of_a_page) return false;
        std::string_view last = std::string_view(from_).substr(1);
        bool may_be_last = from_.front() == '[';
        for (const redisReply* const member : members) {
            const std::string_view bytes = text_of_reply(*member);
            if (!has_shape(*member, RedisShape::text) || bytes < last || (bytes == last && !may_be_last)) return false;
            last = bytes;
            may_be_last = false;
        }
        return true;
    }

    void take_page(const redisReply& page) {
        const auto members = elements_of(page);
        is_last_ = members.size() < entries_of_a_page;
        std::vector<RedisEntry> found;
        for (const redisReply* const member : members) {
            const std::string_view bytes = text_of_reply(*member);
            is_last_ |= !bytes.starts_with(prefix_);
            auto entry = bytes.starts_with(prefix_) ? read_redis_entry(bytes) : std::nullopt;
            if (entry) found.push_back(*std::move(entry));
            from_.assign(1, '(').append(bytes);
        }
        keep_living(found);
        for (RedisEntry& entry : found)
            page_.push_back(
                {.key = std::move(entry.key), .bytes = entry.bytes, .stored_at_seconds = entry.stored_at_seconds});
    }

    /// Null at the end.
    [[nodiscard]] const ObjectInfo* front() {
        while (page_.empty() && !is_last_)
            take_page(*call(next_command(), [this](const redisReply& reply) { return fits(reply); }));
        return page_.empty() ? nullptr : &page_.front();
    }
    void pop() { page_.pop_front(); }

    [[nodiscard]] int shard() const noexcept { return shard_; }

private:
    static constexpr const char* page_limit = "64";
    static_assert(entries_of_a_page == 64);

    /// Asks until the reply fits.
    template <typename Fits>
    RedisReply call(const RedisWords& words, Fits&& fits) {
        RedisReply reply;
        const RedisWork work{.operation = "list", .slot = redis_slot_of_shard(shard_), .until = *until_};
        store_->client().perform(work, [&](RedisConnection& connection) {
            reply = connection.call(words, RedisShape::array);
            if (!fits(*reply)) connection.refuse_last();
        });
        return reply;
    }

    /// Indexes do not expire with their objects.
    void keep_living(std::vector<RedisEntry>& entries) {
        std::vector<std::string> objects, members;
        for (const RedisEntry& entry : entries) {
            if (!entry.may_expire) continue;
            objects.push_back(store_->names().object(entry.key));
            members.push_back(to_bytes(entry));
        }
        if (objects.empty()) return;
        const std::string count = std::to_string(objects.size() + 1);
        RedisWords words{"EVAL", redis_prune_script, count, index_};
        words.insert(words.end(), objects.begin(), objects.end());
        words.insert(words.end(), members.begin(), members.end());
        const RedisReply reply = call(words, [&](const redisReply& r) {
            return elements_of(r).size() == objects.size() &&
                   std::ranges::all_of(elements_of(r), [](const redisReply* e) { return is_integer(*e); });
        });
        const auto living = elements_of(*reply);
        std::size_t asked = 0;
        std::erase_if(entries, [&](const RedisEntry& entry) {
            if (!entry.may_expire) return false;
            return integer_of_reply(*living[asked++]) == 0;
        });
    }

    RedisStore* store_;
    int shard_;
    const RedisDeadline* until_;
    std::string_view prefix_;
    std::string index_;
    std::string from_;
    std::deque<ObjectInfo> page_{};
    bool is_last_ = false;
};

/// The first page of each, in as few rounds as there are servers.
std::deque<ShardListing> open_listings(RedisStore& store, std::string_view prefix, const RedisDeadline& until) {
    std::deque<ShardListing> listings;
    std::vector<int> slots;
    std::vector<RedisWords> commands;
    for (int shard = 0; shard < redis_shards; ++shard) {
        listings.emplace_back(store, shard, prefix, until);
        slots.push_back(redis_slot_of_shard(shard));
        commands.push_back(listings.back().next_command());
    }
    const std::vector<RedisReply> replies =
        store.client().call_all({"list", until}, slots, commands,
                                [&](std::size_t i, const redisReply& reply) { return listings[i].fits(reply); });
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (replies[i]) listings[i].take_page(*replies[i]);
    }
    return listings;
}

}  // namespace

void list_redis_objects(RedisStore& store, std::string_view prefix,
                        const std::function<bool(const ObjectInfo&)>& visit) {
    using std::chrono::steady_clock;
    const std::chrono::milliseconds allowed(store.options().deadline_ms);
    RedisDeadline until = steady_clock::now() + allowed;
    std::int64_t seen = 0;
    const auto visit_one = [&](const ObjectInfo& object) {
        const auto begin = steady_clock::now();
        const bool goes_on = visit(object);
        const auto end = steady_clock::now();
        until = ++seen % objects_of_a_deadline == 0 ? end + allowed : until + (end - begin);
        return goes_on;
    };
    std::deque<ShardListing> listings = open_listings(store, prefix, until);
    const auto is_later = [](ShardListing* a, ShardListing* b) { return a->front()->key > b->front()->key; };
    std::priority_queue<ShardListing*, std::vector<ShardListing*>, decltype(is_later)> waiting(is_later);
    for (ShardListing& listing : listings) {
        if (listing.front() != nullptr) waiting.push(&listing);
    }
    while (!waiting.empty()) {
        ShardListing* const next = waiting.top();
        waiting.pop();
        if (!visit_one(*next->front())) return;
        next->pop();
        if (next->front() != nullptr) waiting.push(next);
    }
}

}  // namespace whittle::inline v0
