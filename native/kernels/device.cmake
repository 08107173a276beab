# Device code: device/*.mu, compiled by each device compiler that is found, and for the CPU.
file(GLOB device_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/device/*.mu)
file(GLOB device_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/device/*.h ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
set(device_exports $<TARGET_OBJECTS:musabench_kernel_exports>)

set(MUSABENCH_NVCC "auto" CACHE STRING "CUDA's compiler: a path, auto (look for it), or off")
set(MUSABENCH_MCC "auto" CACHE STRING "MUSA's compiler: a path, auto (look for it), or off")
set(MUSABENCH_CUDA_ARCHITECTURES "80;90;100;120" CACHE STRING
  "NVIDIA architectures to compile for; those that nvcc does not know are left out. Drivers of other GPUs compile the PTX")
set(MUSABENCH_MUSA_ARCHITECTURES "22;31" CACHE STRING "Moore Threads architectures to compile for")

# find_device_compiler(<variable> <setting> <name> <folders...>): the compiler's path, or "" where there is none.
function(find_device_compiler variable setting name)
  if(setting STREQUAL "off")
    set(${variable} "" PARENT_SCOPE)
    return()
  endif()
  if(NOT setting STREQUAL "auto")
    if(NOT EXISTS ${setting})
      message(FATAL_ERROR "There is no ${name} at ${setting}")
    endif()
    set(${variable} ${setting} PARENT_SCOPE)
    return()
  endif()
  # Looked for anew each time. Not NO_CACHE: CMake before 3.21 takes that for a folder, and one compiler for the next.
  unset(found CACHE)
  find_program(found NAMES ${name} PATHS ${ARGN})
  if(found)
    set(${variable} ${found} PARENT_SCOPE)
  else()
    set(${variable} "" PARENT_SCOPE)
  endif()
  unset(found CACHE)
endfunction()

# add_device_library(<name> <compiler> <definition> FLAGS ... RUNTIME <library file>): a shared library of all device
# sources. Each is a command of its own, so that they compile side by side.
function(add_device_library name compiler definition)
  cmake_parse_arguments(arg "" "RUNTIME" "FLAGS" ${ARGN})
  set(objects)
  foreach(source IN LISTS device_sources)
    get_filename_component(base ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}/${base}.o)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${compiler} ${arg_FLAGS} -D${definition} -I${CMAKE_SOURCE_DIR} -c ${source} -o ${object}
      DEPENDS ${source} ${device_headers} ${CMAKE_SOURCE_DIR}/abi/tvm_ffi.h
      COMMENT "Compiling ${base}.mu for ${name}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_library(${name} SHARED ${objects} ${device_exports})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  get_filename_component(runtime_folder ${arg_RUNTIME} DIRECTORY)
  # Found beside our own libraries, by LD_LIBRARY_PATH, or where it was when this was built.
  set_property(TARGET ${name} APPEND PROPERTY BUILD_RPATH "${runtime_folder}")
  target_link_libraries(${name} PRIVATE ${arg_RUNTIME})
endfunction()

# no_device_library(<name>): this build does not make the library. One that an earlier build made would still be found.
function(no_device_library name)
  file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/lib${name}.so)
endfunction()

# ---- CUDA

find_device_compiler(nvcc "${MUSABENCH_NVCC}" nvcc /usr/local/cuda/bin)
if(MUSABENCH_SANITIZE)
  message(STATUS "musabench: device compilers are left out of a build with sanitizers")
elseif(NOT nvcc)
  message(STATUS "musabench: no nvcc, so no kernels for NVIDIA GPUs; going on without")
  no_device_library(musabench_kernels_cuda)
else()
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known RESULT_VARIABLE failed)
  # Where its own root is; the program on the PATH may be a wrapper.
  execute_process(COMMAND ${nvcc} --dryrun -c -x cu /dev/null ERROR_VARIABLE dryrun OUTPUT_QUIET)
  string(REGEX MATCH "TOP=([^\r\n]*)" matched "${dryrun}")
  get_filename_component(cuda_root "${CMAKE_MATCH_1}" ABSOLUTE)
  unset(cudart CACHE)
  find_file(cudart NAMES libcudart.so PATHS ${cuda_root} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib
    targets/sbsa-linux/lib NO_DEFAULT_PATH)
  if(failed OR NOT cudart)
    message(FATAL_ERROR "${nvcc} is no working CUDA compiler (no list of architectures, or no libcudart.so under "
      "'${cuda_root}'). To build without it: MUSABENCH_NVCC=off in the environment")
  endif()
  set(code)
  foreach(architecture IN LISTS MUSABENCH_CUDA_ARCHITECTURES)
    if(known MATCHES "compute_${architecture}[^0-9]")
      # With its PTX, which costs no time: a GPU that none of them fits finds the nearest older one.
      list(APPEND code -gencode "arch=compute_${architecture},code=[compute_${architecture},sm_${architecture}]")
    endif()
  endforeach()
  if(NOT code)
    message(FATAL_ERROR "${nvcc} knows none of the architectures ${MUSABENCH_CUDA_ARCHITECTURES}")
  endif()
  message(STATUS "musabench: kernels for NVIDIA GPUs with ${nvcc}: ${code}")
  set(warnings)
  if(MUSABENCH_WERROR)
    set(warnings -Werror all-warnings)
  endif()
  add_device_library(musabench_kernels_cuda ${nvcc} MUSABENCH_DEVICE_CUDA
    FLAGS -x cu -std=c++17 -O3 ${code} ${warnings} -Xcompiler=-fPIC,-fvisibility=hidden,-Wall,-Wextra
    RUNTIME ${cudart})
endif()

# ---- MUSA

find_device_compiler(mcc "${MUSABENCH_MCC}" mcc /usr/local/musa/bin)
if(MUSABENCH_SANITIZE)
elseif(NOT mcc)
  message(STATUS "musabench: no mcc, so no kernels for Moore Threads GPUs; going on without")
  no_device_library(musabench_kernels_musa)
else()
  get_filename_component(musa_root ${mcc} DIRECTORY)
  get_filename_component(musa_root ${musa_root} DIRECTORY)
  unset(musart CACHE)
  find_file(musart NAMES libmusart.so PATHS ${musa_root} PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
  if(NOT musart)
    message(FATAL_ERROR "${mcc} has no libmusart.so under ${musa_root}. To build without it: MUSABENCH_MCC=off in the environment")
  endif()
  set(code)
  foreach(architecture IN LISTS MUSABENCH_MUSA_ARCHITECTURES)
    list(APPEND code --offload-arch=mp_${architecture})
  endforeach()
  message(STATUS "musabench: kernels for Moore Threads GPUs with ${mcc}: ${code}")
  add_device_library(musabench_kernels_musa ${mcc} MUSABENCH_DEVICE_MUSA
    FLAGS -x musa -std=c++17 -O3 ${code} -fPIC -fvisibility=hidden -I${musa_root}/include
    RUNTIME ${musart})
endif()

# ---- the CPU

# Only tests use it.
if(NOT MUSABENCH_TESTS)
  return()
endif()
if(MUSABENCH_SANITIZE STREQUAL "thread")
  message(STATUS "musabench: ThreadSanitizer does not know the emulation's fibers; going on without")
  return()
endif()
set_source_files_properties(${device_sources} PROPERTIES LANGUAGE CXX)
foreach(warp 32 128)
  set(name musabench_kernels_emulated)
  if(NOT warp EQUAL 32)
    set(name ${name}_${warp})
  endif()
  add_library(${name} SHARED ${device_sources} emulation/emulation.cc emulation/fiber.cc ${device_exports})
  target_compile_definitions(${name} PRIVATE MUSABENCH_DEVICE_EMULATED MUSABENCH_WARP=${warp})
  # -x c++ for the files' names; unknown pragmas are those of device compilers, which say what to unroll. Loops are what
  # they are: -O3 would spend its time on unrolling and vectorizing code that switches stacks.
  target_compile_options(${name} PRIVATE -x c++ -Wno-unknown-pragmas $<$<CONFIG:Release>:-O2>)
  target_link_libraries(${name} PRIVATE musart_host)
endforeach()
