# For the preset `static`: a program that needs nothing of the machine it runs on. Read after project(), which sets the suffixes.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(CMAKE_EXE_LINKER_FLAGS "${CMAKE_EXE_LINKER_FLAGS} -static")
