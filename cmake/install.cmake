# The C++ library as other projects see it: librewardloop.so, its public headers, find_package(rewardloop).
if(SKBUILD)
  return()  # a wheel carries the extension and the command only (python/CMakeLists.txt)
endif()
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The objects of every internal library except the command line: the shared library is complete by itself, and what an
# internal library links (fmt, RE2, FLINT ...) comes along through it.
get_property(rl_libraries GLOBAL PROPERTY REWARDLOOP_LIBRARIES)
list(REMOVE_ITEM rl_libraries rl_cli)
add_library(rewardloop_shared SHARED)
foreach(library IN LISTS rl_libraries)
  target_sources(rewardloop_shared PRIVATE $<TARGET_OBJECTS:${library}>)
  target_link_libraries(rewardloop_shared PRIVATE ${library})
endforeach()
target_include_directories(rewardloop_shared INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(rewardloop_shared INTERFACE cxx_std_20)
target_link_libraries(rewardloop_shared INTERFACE Threads::Threads)
set_target_properties(rewardloop_shared PROPERTIES
  OUTPUT_NAME rewardloop EXPORT_NAME rewardloop LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

install(TARGETS rewardloop_shared EXPORT rewardloopTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/rewardloop DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT rewardloopTargets NAMESPACE rewardloop:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rewardloop)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rewardloopConfig.cmake.in
  ${PROJECT_BINARY_DIR}/rewardloopConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rewardloop)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rewardloopConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rewardloopConfig.cmake ${PROJECT_BINARY_DIR}/rewardloopConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/rewardloop)
if(TARGET rewardloop)
  install(TARGETS rewardloop RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
