# One way to declare a library, a test and their warnings, so that every folder's file stays a list.

add_library(apo_warnings INTERFACE)
target_compile_options(apo_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                              -Wnon-virtual-dtor -Wold-style-cast -Wmissing-field-initializers)
# Designated initialisers leave the rest at its default on purpose.
target_compile_options(apo_warnings INTERFACE -Wno-missing-field-initializers)
# GCC 12 warns falsely of overlapping copies in std::string's operator+ (GCC bug 105651).
target_compile_options(apo_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
# -Og leaves this out; with it GCC sees the uninitialised values behind a call that it sees with -O1.
target_compile_options(apo_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-finline-functions-called-once>)
if(APO_WARNINGS_AS_ERRORS)
  target_compile_options(apo_warnings INTERFACE -Werror)
endif()

# The presets compile all files of a target as one (CMAKE_UNITY_BUILD): the headers and the templates that they share are
# compiled once. The SOURCES that also stand under ALONE are not joined: their unnamed namespace has a name that another
# file uses too.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)

# apo_library(NAME DEPENDS ... [PRIVATE_DEPENDS ...] [ALONE ...] [WITHOUT ...] [COMPUTES ... LEVEL -O2]): a static library of
# one room: every .cpp of this folder and of its subfolders but for those under WITHOUT. What it may include is what it
# depends on. COMPUTES: patterns of the files that compute or measure; a release compiles them at LEVEL, as one.
function(apo_library name)
  cmake_parse_arguments(ARG "" "LEVEL" "ALONE;WITHOUT;COMPUTES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  list(REMOVE_ITEM sources ${ARG_WITHOUT})
  if(ARG_COMPUTES)
    file(GLOB computing CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARG_COMPUTES})
    list(REMOVE_ITEM sources ${computing})
    add_library(${name}_computing OBJECT ${computing})
    target_compile_options(${name}_computing PRIVATE $<$<CONFIG:Release>:${ARG_LEVEL}>)
    target_link_libraries(${name}_computing PRIVATE ${ARG_DEPENDS} ${ARG_PRIVATE_DEPENDS} apo_warnings)
    set(sources ${sources} $<TARGET_OBJECTS:${name}_computing>)
  endif()
  add_library(${name} STATIC ${sources})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/autopoiesis>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS} $<BUILD_INTERFACE:apo_warnings>)
endfunction()

# apo_test_program(NAME [LEVEL]): compiles a program of the tests. Most run for less time than an optimiser takes; those that
# compute for long ask for a LEVEL, with which the headers that are compiled once for all tests can't be used.
function(apo_test_program name)
  set(level ${ARGN})
  target_link_libraries(${name} PRIVATE GTest::gtest apo_core apo_warnings)
  # The linker keeps the first copy of a template's function: the optimised ones of the standard library's in apo_core,
  # which the rest of the program calls as well, and not the test's.
  target_link_options(${name} PRIVATE LINKER:--whole-archive $<TARGET_FILE:apo_core> LINKER:--no-whole-archive)
  if(NOT level)
    set(level -O0)
  endif()
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:${level}>)
  target_compile_definitions(${name} PRIVATE APO_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}"
                                             APO_BINARY_FOLDER="${PROJECT_BINARY_DIR}")
  if(TARGET apo_common_headers AND level STREQUAL "-O0" AND NOT ${name} STREQUAL apo_common_headers)
    target_precompile_headers(${name} REUSE_FROM apo_common_headers)
  endif()
endfunction()

# apo_test_process(NAME PROGRAM FILTER [PROPERTY VALUE]...): a test of ctest, which runs the tests that the filter selects.
function(apo_test_process name program filter)
  add_test(NAME ${name} COMMAND ${program} --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES ${ARGN})
endfunction()

# apo_test(NAME DEPENDS ... [SOURCES ...] [FOLDERS ...] [WITHOUT ...] [LABELS ...] [COST n] [LEVEL -O1] [ALL ...] [BY_NAME]):
# one GoogleTest program of SOURCES, or like a library of every .cpp of its FOLDERS (this one) but for those under WITHOUT. ctest runs
# it twice, as NAME.1 and NAME.2, each a process with half of the tests. ALL: filters of --gtest_filter whose tests only
# `tests/run --all` runs, in a process of their own. COST: ctest starts with the highest, so that what waits or compiles for long
# runs beside what computes, and no core waits in the end. BY_NAME: neither built by default nor run.
function(apo_test name)
  cmake_parse_arguments(ARG "BY_NAME" "COST;LEVEL" "SOURCES;FOLDERS;WITHOUT;DEPENDS;LABELS;ALL" ${ARGN})
  if(NOT ARG_COST)
    set(ARG_COST 0)
  endif()
  if(NOT ARG_SOURCES)
    if(NOT ARG_FOLDERS)
      set(ARG_FOLDERS .)
    endif()
    list(TRANSFORM ARG_FOLDERS APPEND /*.cpp)
    file(GLOB_RECURSE ARG_SOURCES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${ARG_FOLDERS})
    list(REMOVE_ITEM ARG_SOURCES ${ARG_WITHOUT})
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest_main)
  apo_test_program(${name} ${ARG_LEVEL})
  if(ARG_BY_NAME)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  set(properties TIMEOUT 7200 COST ${ARG_COST})
  list(JOIN ARG_ALL : all)
  foreach(shard 0 1)
    math(EXPR number "${shard} + 1")
    apo_test_process(${name}.${number} ${name} -${all} ${properties})
    set_tests_properties(${name}.${number} PROPERTIES LABELS "${ARG_LABELS}"
                                                      ENVIRONMENT "GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=${shard}")
  endforeach()
  foreach(filter ${ARG_ALL})
    string(REGEX REPLACE "[*/.]+" "" subject ${filter})
    apo_test_process(${name}.${subject} ${name} ${filter} ${properties} LABELS all)
  endforeach()
endfunction()
