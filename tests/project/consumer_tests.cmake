# The installed package in the hands of the project in tests/consumer, a step a test.
set(consumer ${PROJECT_BINARY_DIR}/consumer)
set(prefix ${consumer}/prefix)

function(apo_consumer_test name)
  cmake_parse_arguments(ARG "" "SETS_UP;PRINTS;FOLDER" "NEEDS;COMMAND" ${ARGN})
  if(NOT ARG_FOLDER)
    set(ARG_FOLDER ${PROJECT_BINARY_DIR})
  endif()
  add_test(NAME Consumer.${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${ARG_FOLDER})
  set_tests_properties(Consumer.${name} PROPERTIES TIMEOUT 7200 LABELS all FIXTURES_SETUP "${ARG_SETS_UP}"
                                                   FIXTURES_REQUIRED "${ARG_NEEDS}"
                                                   ENVIRONMENT_MODIFICATION "APO_HOME=unset:;DESTDIR=unset:")
  if(ARG_PRINTS)
    set_tests_properties(Consumer.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${ARG_PRINTS}")
  endif()
endfunction()

apo_consumer_test(OldInstallationIsRemoved SETS_UP empty_prefix
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${consumer})
apo_consumer_test(PackageInstalls NEEDS empty_prefix SETS_UP installed
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
apo_consumer_test(PackageIsFound NEEDS installed SETS_UP consumer_configured
  COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR}/tests/consumer -B ${consumer}/build -G ${CMAKE_GENERATOR}
          -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
          -DCMAKE_CXX_FLAGS=${CMAKE_CXX_FLAGS} -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_PREFIX_PATH=${prefix})
apo_consumer_test(EveryLibraryLinks NEEDS consumer_configured SETS_UP consumer_built
  COMMAND ${CMAKE_COMMAND} --build ${consumer}/build)
apo_consumer_test(JudgesAndKnowsAFamily NEEDS consumer_built FOLDER ${consumer}/build
  COMMAND ${consumer}/build/consumer)

# The installed program reads what is installed, not the checkout: a variant that is only there is found and passes.
set(apo ${prefix}/${CMAKE_INSTALL_BINDIR}/apo)
apo_consumer_test(InstalledProgramKnowsItsVariants NEEDS installed FOLDER ${consumer}
  PRINTS "streaming-stores"
  COMMAND ${apo} list copy)
apo_consumer_test(VariantIsDroppedIn NEEDS installed SETS_UP axpy_variant
  COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/tests/consumer/axpy_simple.cpp
          ${prefix}/${CMAKE_INSTALL_DATAROOTDIR}/autopoiesis/variants/axpy/simple.cpp)
apo_consumer_test(InstalledProgramListsTheFamily NEEDS axpy_variant FOLDER ${consumer}
  PRINTS "n64k.*simple  host  scalar-loop"
  COMMAND ${apo} list axpy --families ${PROJECT_SOURCE_DIR}/tests/consumer/axpy.h)
apo_consumer_test(InstalledProgramVerifiesTheVariant NEEDS axpy_variant FOLDER ${consumer}
  COMMAND ${apo} verify axpy/simple --families ${PROJECT_SOURCE_DIR}/tests/consumer/axpy.h)

apo_consumer_test(PackagesWorkForAnOrdinaryUser NEEDS installed
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/packages.sh ${PROJECT_BINARY_DIR})
set_tests_properties(Consumer.PackagesWorkForAnOrdinaryUser PROPERTIES TIMEOUT 7200 SKIP_RETURN_CODE 77)
