#include "whittle/saved/trajectory.hpp"

#include "replay/replay.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "whittle/reduction/reduction.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

using namespace whittle;
using openai::Message;
using namespace whittle::testing;

namespace {

Hash128 hash_of(const Message& m) { return hash128(message_traits<Message>::to_bytes(m)); }

struct Setting {
    std::int64_t above = 0;
    std::int64_t target = 0;
    int keep = 1;  ///< rounds
};

Chain<Message> clearing(const Setting& setting, std::shared_ptr<Storage> storage) {
    return Chain{ChainConfig{.storage = std::move(storage)},
                 Reduction<Message>{{.skip_truncation = true,
                                     .max_tokens_for_clear = setting.above,
                                     .clear_retention_suffix_limit = setting.keep,
                                     .clear_target_tokens = setting.target}}};
}

/// What must hold of one session; one check per session and kind, since Catch2 checks are slow.
struct Findings {
    int calls = 0;
    int edited_sessions = 0;
    std::vector<std::string> violated{};
    std::vector<std::string> not_undone{};
    std::vector<std::string> touched{};        ///< a message without a mark differs from the recording
    std::vector<std::string> changed_again{};  ///< a second run changed something
};

class SessionCheck {
public:
    SessionCheck(const Trajectory<>& trajectory, const Chain<Message>& chain, Findings& findings)
        : trajectory_(trajectory), chain_(chain), findings_(findings) {
        for (const Message& m : trajectory.messages) recorded_.push_back(hash_of(m));
    }

    void run() {
        ReplayOptions<Message> options;
        options.on_end = [&](const Conversation<Message>& conversation) { check_end(conversation); };
        const ReplayTotals totals = replay<Message>({trajectory_.id, trajectory_.system, trajectory_.tools,
                                                     trajectory_.messages, trajectory_.seconds_since_first},
                                                    chain_, options);
        findings_.calls += static_cast<int>(totals.calls);
        findings_.edited_sessions += totals.commits > 0 ? 1 : 0;
        if (!totals.violations.empty() || totals.failed_hooks != 0) findings_.violated.push_back(trajectory_.id);
        if (totals.not_undone != 0 || totals.restored_bytes != totals.changed_bytes)
            findings_.not_undone.push_back(trajectory_.id);
    }

private:
    void check_end(const Conversation<Message>& conversation) {
        const auto hashes = hashes_of(conversation);
        for (std::size_t i = 0; i < conversation.size(); ++i) {
            const MessageInfo& info = conversation.outline()[i];
            const bool is_marked =
                info.mark || std::ranges::any_of(info.parts, [](const PartInfo& part) { return part.mark != nullptr; });
            if (is_marked == (hashes[i] == recorded_[info.serial - 1])) findings_.touched.push_back(trajectory_.id);
        }
        Conversation<Message> copy = conversation.fork(conversation.id());
        chain_.before_model(copy, {trajectory_.tools, trajectory_.system});
        const auto once = hashes_of(copy);
        const std::size_t journal = copy.journal().size();
        chain_.before_model(copy, {trajectory_.tools, trajectory_.system});
        if (hashes_of(copy) != once || copy.journal().size() != journal)
            findings_.changed_again.push_back(trajectory_.id);
    }

    static std::vector<Hash128> hashes_of(const Conversation<Message>& conversation) {
        std::vector<Hash128> hashes;
        for (const Message& m : conversation.messages()) hashes.push_back(hash_of(m));
        return hashes;
    }

    const Trajectory<>& trajectory_;
    const Chain<Message>& chain_;
    Findings& findings_;
    std::vector<Hash128> recorded_{};
};

}  // namespace

TEST_CASE("recorded sessions stay valid, restorable and otherwise untouched under clearing", "[replay][data]") {
    const auto files = recorded_files();
    if (files.empty()) SKIP_WITH_MESSAGE("there are no recorded trajectories here");
    for (const Setting setting : {Setting{1'000, 0, 1}, Setting{30'000, 15'000, 3}}) {
        std::size_t sessions = 0;
        for (const auto& file : files) {
            Findings findings;
            const auto chain = clearing(setting, memory_storage());
            read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
                if (sessions++ % every(3) == 0) SessionCheck(trajectory, chain, findings).run();
            });
            CAPTURE(file.filename().string(), setting.above);
            if (is_soak()) {
                CHECK(findings.calls > 0);
                CHECK((findings.edited_sessions > 0 || setting.above > 1'000));
            }
            CHECK(findings.violated.empty());
            CHECK(findings.not_undone.empty());
            CHECK(findings.touched.empty());
            CHECK(findings.changed_again.empty());
        }
    }
}
