# The project configures, without the tests' packages, whether the CUDA module is wanted and its toolkit is there or not.

function(apo_configures name)
  add_test(NAME Configure.${name}
           COMMAND ${CMAKE_COMMAND} --fresh -S ${PROJECT_SOURCE_DIR} -B ${PROJECT_BINARY_DIR}/configure/${name}
                   -G ${CMAKE_GENERATOR} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER} -DBUILD_TESTING=OFF
                   -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON ${ARGN})
  set_tests_properties(Configure.${name} PROPERTIES TIMEOUT 120)
endfunction()

apo_configures(WithoutTheCudaModule -DAPO_CUDA=OFF)
apo_configures(WithTheCudaModuleAsThisMachineHasIt -DAPO_CUDA=ON)
apo_configures(WithTheCudaModuleWantedButNoToolkit -DAPO_CUDA=ON -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON
               -DCMAKE_CUDA_COMPILER=NOTFOUND)
