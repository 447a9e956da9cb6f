# The files of every library, relative to PROJECT_SOURCE_DIR: whittle_sources, whittle_headers and whittle_private_headers
# (those of src/) of whittle::whittle, whittle_json_*, whittle_evaluation_*, whittle_telemetry_*, whittle_logs_*,
# whittle_http_*, whittle_storage_conformance_*, whittle_sqlite_*, whittle_sealing_*, whittle_durable_*,
# whittle_host_conformance_*, whittle_host_boundary_*, whittle_host_adapters, whittle_spdlog_header. Scripts include it too.
#
# Sources are globbed with CONFIGURE_DEPENDS: the folder says which library a file of src/ belongs to, and every header
# under include/ is public, so a list would only repeat the tree; the build looks again whenever it runs.
set(whittle_look_again CONFIGURE_DEPENDS)
if(CMAKE_SCRIPT_MODE_FILE)
  set(whittle_look_again)
endif()

# whittle_glob(<variable> <pattern>)
function(whittle_glob variable pattern)
  file(GLOB_RECURSE found RELATIVE "${PROJECT_SOURCE_DIR}" ${whittle_look_again} "${PROJECT_SOURCE_DIR}/${pattern}")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

whittle_glob(whittle_sources "src/*.cpp")
whittle_glob(whittle_private_headers "src/*.hpp")
whittle_glob(whittle_headers "include/whittle/*.hpp")

# whittle_move_to(<variable> <list> <regex>): takes the files that match from the list.
function(whittle_move_to variable list regex)
  set(moved ${${list}})
  list(FILTER moved INCLUDE REGEX "${regex}")
  set(rest ${${list}})
  list(FILTER rest EXCLUDE REGEX "${regex}")
  set(${variable} ${moved} PARENT_SCOPE)
  set(${list} ${rest} PARENT_SCOPE)
endfunction()

whittle_move_to(whittle_evaluation_headers whittle_headers "^include/whittle/evaluation/")
whittle_move_to(whittle_evaluation_sources whittle_sources "^src/evaluation/")
whittle_move_to(whittle_evaluation_private_headers whittle_private_headers "^src/evaluation/")
whittle_move_to(whittle_telemetry_headers whittle_headers "^include/whittle/telemetry/")
whittle_move_to(whittle_telemetry_sources whittle_sources "^src/telemetry/")
whittle_move_to(whittle_telemetry_private_headers whittle_private_headers "^src/telemetry/")
whittle_move_to(whittle_storage_conformance_headers whittle_headers "^include/whittle/conformance/")
whittle_move_to(whittle_storage_conformance_sources whittle_sources "^src/conformance/")
whittle_move_to(whittle_storage_conformance_private_headers whittle_private_headers "^src/conformance/")
whittle_move_to(whittle_sqlite_headers whittle_headers "^include/whittle/sqlite/")
whittle_move_to(whittle_sqlite_sources whittle_sources "^src/sqlite/")
whittle_move_to(whittle_sqlite_private_headers whittle_private_headers "^src/sqlite/")
whittle_move_to(whittle_sealing_headers whittle_headers "^include/whittle/sealing/")
whittle_move_to(whittle_sealing_sources whittle_sources "^src/sealing/")
whittle_move_to(whittle_sealing_private_headers whittle_private_headers "^src/sealing/")
whittle_move_to(whittle_host_conformance_headers whittle_headers "^include/whittle/host/(conformance|detail/conformance)")
whittle_move_to(whittle_host_conformance_sources whittle_sources "^src/host/conformance")
whittle_move_to(whittle_host_boundary_headers whittle_headers "^include/whittle/host/boundary\\.hpp$")
whittle_move_to(whittle_host_boundary_sources whittle_sources "^src/host/boundary\\.cpp$")
whittle_move_to(whittle_host_adapters whittle_headers "^include/whittle/host/")  # each compiles behind its host's headers only
whittle_move_to(whittle_logs_headers whittle_headers "^include/whittle/logs/")
whittle_move_to(whittle_logs_sources whittle_sources "^src/logs/")
whittle_move_to(whittle_logs_private_headers whittle_private_headers "^src/logs/")
whittle_move_to(whittle_durable_headers whittle_headers "^include/whittle/durable/")
whittle_move_to(whittle_durable_sources whittle_sources "^src/durable/")
whittle_move_to(whittle_durable_private_headers whittle_private_headers "^src/durable/")
whittle_move_to(whittle_spdlog_header whittle_headers "^include/whittle/adapter/spdlog\\.hpp$")
whittle_move_to(whittle_http_headers whittle_headers "^include/whittle/backend/curl_")
whittle_move_to(whittle_http_sources whittle_sources "^src/backend/curl_")
whittle_move_to(whittle_json_headers whittle_headers "^include/whittle/(adapter|backend)/")
whittle_move_to(whittle_json_sources whittle_sources "^src/(adapter|backend|json)/")
whittle_move_to(whittle_json_private_headers whittle_private_headers "^src/(adapter|backend|json)/")
