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
  set_property(GLOBAL APPEND PROPERTY MOE_LIBRARIES ${name})
endfunction()

# moe_add_tool(NAME source... [LINK library...])
#
# One command line tool in build/bin.
function(moe_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} MoEDialectHeaders CTADialectHeaders)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
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
endfunction()
