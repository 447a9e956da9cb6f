// The main function of every test executable.
#if __has_include(<catch2/catch_session.hpp>)
#    include <catch2/catch_session.hpp>
#else
#    define CATCH_CONFIG_RUNNER
#    include <catch2/catch.hpp>
#endif

#include <sys/stat.h>

int main(int argc, char* argv[]) {
    ::umask(022);  // a file storage refuses a root that its group can write
    return Catch::Session().run(argc, argv);
}
