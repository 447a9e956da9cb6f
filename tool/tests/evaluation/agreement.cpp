// The judge is a second implementation of the same definitions, in Python, which shares no code with this one.
#include "evaluation/recorded.hpp"
#include "support/catch.hpp"
#include "support/soak.hpp"
#include "support/temp_dir.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace whittle;
using namespace whittle::evaluation;
using namespace whittle::testing;

namespace {

using Judged = nlohmann::json;
namespace fs = std::filesystem;

constexpr double tolerance = .005;

bool has_judge() { return fs::exists(WHITTLE_JUDGE) && std::system("python3 --version > /dev/null 2>&1") == 0; }

/// All of them in a soak, else a few small ones of each kind.
std::vector<fs::path> judged_files() {
    const fs::path folder = fs::path(WHITTLE_DATA_DIR) / "trajectories";
    std::vector<fs::path> files;
    if (!fs::is_directory(folder)) return files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const bool is_small = name == "coding_pi_auth_go.jsonl" || name == "coding_opencode_session_bridge.jsonl" ||
                              name == "customer_service_tau2_retail.jsonl" || name == "web_research_webdancer.jsonl";
        if (entry.path().extension() == ".jsonl" && (is_small || is_soak())) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

/// What the judge says of a control.
Judged judged(const std::vector<fs::path>& files, std::string_view control, const fs::path& folder) {
    const fs::path out = folder / "judged.json";
    std::string command =
        "python3 '" + std::string(WHITTLE_JUDGE) + "' score --jobs 1 --control " + std::string(control);
    command += " --json '" + out.string() + "' --trajectories";
    for (const fs::path& file : files) command += " '" + file.string() + "'";
    REQUIRE(std::system((command + " > /dev/null").c_str()) == 0);
    std::ifstream in(out);
    std::string text(std::istreambuf_iterator<char>(in), {});
    for (std::size_t at = 0; (at = text.find(": NaN", at)) != std::string::npos;) text.replace(at, 5, ": null");
    return Judged::parse(text);
}

std::vector<Session> sessions_of(const std::vector<fs::path>& files) {
    std::vector<SessionInput> inputs;
    CommonIdentifiers common;
    for (const fs::path& file : files) {
        read_trajectories(file, {}, [&](Trajectory<>&& trajectory) {
            inputs.push_back(to_session(trajectory, file.string()));
            common.add(inputs.back());
        });
    }
    std::vector<Session> sessions;
    for (SessionInput& input : inputs) sessions.emplace_back(std::move(input), &common);
    return sessions;
}

/// "20k-100k coding" as the judge writes it.
std::string judges_name_of(const Stratum& stratum) {
    std::string name(stratum.name);
    for (const auto& [ours, theirs] :
         {std::pair{"under 20k", "<20k"}, {"20k-100k", "20-100k"}, {"over 100k", ">100k"}}) {
        if (const auto at = name.find(ours); at != std::string::npos)
            name.replace(at, std::string(ours).size(), theirs);
    }
    return name;
}

/// The figures of one row that are further apart than they may be.
class RowCheck {
public:
    RowCheck(std::string row, std::vector<std::string>& offences) : row_(std::move(row)), offences_(offences) {}

    void check(const std::string& figure, double ours, const Judged& theirs) {
        ++compared_;
        const bool is_same = theirs.is_number() && std::abs(ours - theirs.get<double>()) <= tolerance;
        if (!is_same)
            offences_.push_back(row_ + ": " + figure + ": " + std::to_string(ours) + ", judged " + theirs.dump());
    }
    [[nodiscard]] int compared() const { return compared_; }

private:
    std::string row_;
    std::vector<std::string>& offences_;
    int compared_ = 0;
};

void check_money(RowCheck& row, const Summary& ours, const Judged& theirs) {
    const auto profiles = cost_profiles();
    for (std::size_t p = 0; p < profiles.size(); ++p) {
        const std::string& name = profiles[p].cache.name;
        const MoneySummary& money = ours.money[p];
        const Judged& judged = theirs.at(name);
        const auto check_spread = [&](const char* figure, const Spread& spread) {
            row.check(name + " " + figure + " median", spread.median, judged.at(figure).at("median"));
            row.check(name + " " + figure + " mean", spread.mean, judged.at(figure).at("mean"));
            row.check(name + " " + figure + " sum", spread.pooled, judged.at(figure).at("sum"));
        };
        check_spread("C", money.sent);
        check_spread("C_strict", money.sent_strict);
        check_spread("Cstar", money.with_line_refetches);
        check_spread("Cstar_strict", money.with_line_refetches_strict);
        row.check(name + " harm", money.line_harm, judged.at("harm"));
        row.check(name + " hit", money.hit_sent, judged.at("hit"));
        if (money.exponent_sent) row.check(name + " exponent", *money.exponent_sent, judged.at("exponent"));
    }
}

void check_probes(RowCheck& row, const Summary& ours, const Judged& theirs) {
    for (std::size_t k = 0; k < probe_kinds; ++k) {
        std::string name(to_string(static_cast<ProbeKind>(k)));
        std::ranges::replace(name, '_', '-');
        if (!theirs.contains(name)) continue;
        for (std::size_t age = 0; age < ages; ++age) {
            const Judged& judged = theirs.at(name).at(std::vector{"1-10", "11-50", ">50"}[age]);
            const ProbeCount& count = ours.probes[k][age];
            row.check(name + " asked", static_cast<double>(count.needed), judged[0]);
            const double asked = std::max(1.0, judged[0].get<double>());
            row.check(name + " visible", static_cast<double>(count.visible) / asked, judged[1].get<double>() / asked);
            row.check(name + " lost", static_cast<double>(count.lost) / asked, judged[3].get<double>() / asked);
        }
    }
}

int check_row(const std::string& name, const Summary& ours, const Judged& theirs, std::vector<std::string>& offences) {
    RowCheck row(name, offences);
    row.check("sessions", static_cast<double>(ours.sessions), theirs.at("n"));
    row.check("tokens median", ours.tokens.median, theirs.at("token_ratio").at("median"));
    row.check("tokens sum", ours.tokens.pooled, theirs.at("token_ratio").at("sum"));
    row.check("peak", static_cast<double>(ours.peak), theirs.at("peak_ratio").at("max_peak"));
    row.check("resets", ours.resets_per_call, theirs.at("resets_per_call"));
    row.check("newest shown", ours.arrived_shown, theirs.at("arrival_kept"));
    check_money(row, ours, theirs);
    check_probes(row, ours, theirs.at("probes"));
    return row.compared();
}

}  // namespace

TEST_CASE("figures of simple strategies agree with the judge's in every row", "[evaluation][data]") {
    const auto files = judged_files();
    if (files.empty() || !has_judge())
        SKIP_WITH_MESSAGE("there are no recorded trajectories, no judge or no Python here");
    const TempDir dir;
    const std::vector<Session> sessions = sessions_of(files);
    std::vector<std::string> offences;
    int compared = 0;
    for (const Control& control : controls()) {
        if (!is_soak() && control.name != "noop" && control.name != "mask10_step25" && control.name != "headtail_later")
            continue;
        const Judged theirs = judged(files, control.name, dir.path()).at("summary");
        std::vector<Figures> figures;
        for (const Session& session : sessions) {
            Run run(session);
            control.requests(session, [&](std::size_t call, const Request& request) { run.send(call, request); });
            figures.push_back(run.finish());
        }
        for (const Stratum& stratum : strata()) {
            std::vector<const Figures*> in_stratum;
            for (const Figures& f : figures) {
                if (stratum.has(f)) in_stratum.push_back(&f);
            }
            const Judged& row = theirs.at(judges_name_of(stratum));
            CHECK(row.empty() == in_stratum.empty());
            if (row.empty()) continue;
            compared += check_row(std::string(control.name) + ", " + std::string(stratum.name), summarize(in_stratum),
                                  row, offences);
        }
    }
    CHECK(compared > 1'000);
    CHECK(offences.empty());
    for (const std::string& offence : offences) UNSCOPED_INFO(offence);
    CHECK(offences == std::vector<std::string>{});
}
