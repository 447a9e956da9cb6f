#include "commands.hpp"
#include "whittle/message/validity.hpp"

#include <fmt/format.h>

namespace whittle::cli {
namespace {

using nlohmann::ordered_json;

const ValidityProfile& profile_of(const std::string& name) {
    if (const ValidityProfile* profile = find_validity_profile(name)) return *profile;
    std::string known;
    for (const ValidityProfile* profile : validity_profiles()) known += (known.empty() ? "" : ", ") + profile->name;
    throw UsageError{fmt::format("--profile {}: expected one of {}", name, known)};
}

std::string_view name_of(Severity severity) {
    return severity == Severity::refused ? "refused" : severity == Severity::silent ? "silent" : "cost";
}

std::string to_line(const std::string& file, const std::string& trajectory, const Violation& v, std::size_t messages) {
    const std::string place = v.message < messages ? fmt::format("message {} part {}", v.message, v.part) : "the list";
    return fmt::format("{}: {}: {}: {} ({}): {}\n", file, trajectory, place, id_of(v.rule),
                       name_of(severity_of(v.rule)), v.text);
}

ordered_json to_json(const std::string& file, const std::string& trajectory, const Violation& v, std::size_t messages) {
    ordered_json json{{"file", file},
                      {"trajectory", trajectory},
                      {"rule", id_of(v.rule)},
                      {"severity", name_of(severity_of(v.rule))}};
    json["message"] = v.message < messages ? ordered_json(v.message) : ordered_json(nullptr);
    json["part"] = v.message < messages ? ordered_json(v.part) : ordered_json(nullptr);
    json["text"] = v.text;
    return json;
}

}  // namespace

ExitCode run_check(const CheckCommand& command, const CommonOptions& common) {
    const ValidityProfile& profile = profile_of(command.profile);
    ordered_json list = ordered_json::array();
    std::int64_t trajectories = 0;
    std::int64_t found = 0;
    for (const std::string& file : command.files) {
        for_each_trajectory(file, [&](const Trajectory<>& trajectory) {
            ++trajectories;
            const std::size_t size = trajectory.messages.size();
            for (const Violation& v : validate(std::span<const openai::Message>(trajectory.messages), profile)) {
                ++found;
                if (common.json) list.push_back(to_json(file, trajectory.id, v, size));
                if (!common.json) print(to_line(file, trajectory.id, v, size));
            }
        });
    }
    if (common.json) {
        ordered_json json{{"profile", profile.name}, {"trajectories", trajectories}, {"violations", found}};
        json["violation_list"] = std::move(list);
        print(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
    } else {
        print(fmt::format("{} sessions checked for {}: {}\n", trajectories, profile.name,
                          found == 0 ? "no violation" : fmt::format("{} violations", found)));
    }
    return found == 0 ? done : failed;
}

}  // namespace whittle::cli
