# moe_install(TARGET)
#
# `cmake --install` takes the target along, and find_package(MoE) makes it
# MoE::TARGET. Programs of others get the folder of the headers with it.
function(moe_install name)
  install(TARGETS ${name} EXPORT MoETargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  get_target_property(type ${name} TYPE)
  if(type MATCHES "STATIC_LIBRARY|SHARED_LIBRARY")
    target_include_directories(${name} INTERFACE
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(${name} INTERFACE cxx_std_17)
  endif()
  # libMLIR and libLLVM stay where they are.
  get_target_property(links ${name} LINK_LIBRARIES)
  if("LLVM" IN_LIST links)
    set_target_properties(${name} PROPERTIES
      INSTALL_RPATH ${LLVM_LIBRARY_DIR} BUILD_WITH_INSTALL_RPATH ON)
  endif()
  set_property(GLOBAL APPEND PROPERTY MOE_INSTALLED ${name})
endfunction()

# moe_add_library(NAME source... [DEPENDS target...] [LINK library...])
#
# One static library of the project. Only libMLIR and libLLVM are linked from
# LLVM; LINK names other libraries of this project or outside packages.
function(moe_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(MoE::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # Generated headers of both dialects are small: every library waits for them.
  add_dependencies(${name} MoEDialectHeaders CTADialectHeaders ${ARG_DEPENDS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  # Some of MLIR's classes have another size without it; see CMakeLists.txt.
  target_compile_definitions(${name} INTERFACE $<INSTALL_INTERFACE:NDEBUG>)
  set_property(GLOBAL APPEND PROPERTY MOE_LIBRARIES ${name})
  moe_install(${name})
endfunction()

# moe_add_tool(NAME source... [LINK library...])
#
# One command line tool in build/bin.
function(moe_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} MoEDialectHeaders CTADialectHeaders)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  moe_install(${name})
endfunction()

# moe_add_plain_library(NAME source... [LINK library...])
#
# One static library of the project that knows nothing of LLVM, for programs
# that travel to machines without it.
function(moe_add_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(MoE::${name} ALIAS ${name})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY MOE_LIBRARIES ${name})
  moe_install(${name})
endfunction()

# moe_add_plain_tool(NAME source... [LINK library...])
#
# One command line tool in build/bin that needs libc alone.
function(moe_add_plain_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc
                      -Wl,--gc-sections)
  moe_install(${name})
endfunction()
