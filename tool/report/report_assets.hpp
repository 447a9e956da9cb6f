#pragma once

#include <string_view>

namespace whittle::cli {

// The files of tool/report/, as the build found them, and the SHA-256 of two of them in base64.
extern const std::string_view report_template;
extern const std::string_view report_style;
extern const std::string_view report_style_sha256;
extern const std::string_view report_script;
extern const std::string_view report_script_sha256;

}  // namespace whittle::cli
