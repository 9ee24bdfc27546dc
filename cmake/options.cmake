# Compiler settings shared by every target.
find_program(CCACHE ccache)
if(CCACHE)
  # Paths relative to the checkout, so that build trees share what they compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives of these inside libstdc++ at -O2.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized> -Wno-restrict -Wno-stringop-overflow
                      -Wno-array-bounds)
endif()

if(REWARDLOOP_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=address,undefined)
elseif(REWARDLOOP_SANITIZE STREQUAL "thread")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=thread)
elseif(NOT REWARDLOOP_SANITIZE STREQUAL "")
  message(FATAL_ERROR "REWARDLOOP_SANITIZE must be address, thread or empty, not '${REWARDLOOP_SANITIZE}'")
endif()
