# tests/cli/python_tests.cmake - registers the command tests in Python with ctest, a test a class.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

# apo_python_test(FILE [LABELS ...] [COST n] [ALL CLASS...]): COST as in apo_test; ALL: classes that only `tests/run --all`
# runs. A class that skipped a test ends with 77, and says why.
# Bases are named ...Test.
function(apo_python_test file)
  cmake_parse_arguments(ARG "" "COST" "LABELS;ALL" ${ARGN})
  if(NOT ARG_COST)
    set(ARG_COST 20)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS cli)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  file(STRINGS ${file} classes REGEX "^class [A-Za-z0-9]+\\([A-Za-z]*Test\\):")
  list(FILTER classes EXCLUDE REGEX "^class [A-Za-z0-9]*Test\\(")
  foreach(class IN LISTS classes)
    string(REGEX REPLACE "^class ([A-Za-z0-9]+)\\(.*" "\\1" class "${class}")
    set(labels ${ARG_LABELS})
    if(class IN_LIST ARG_ALL)
      set(labels all)
    endif()
    add_test(NAME ${class} COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${class})
    set_tests_properties(${class} PROPERTIES
      ENVIRONMENT "PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/cli;APO_PROGRAM=$<TARGET_FILE:apo>;APO_BINARY_FOLDER=${PROJECT_BINARY_DIR}"
      TIMEOUT 7200 COST ${ARG_COST} SKIP_RETURN_CODE 77 LABELS "${labels}")
  endforeach()
endfunction()
