# How every target of Heddle is compiled, and the one way to declare a library.

get_filename_component(HEDDLE_ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(CCACHE ccache)
if(CCACHE)
  # The base directory lets another clone hit what this one compiled; precompiled headers need the
  # sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  add_compile_options(-fpch-preprocess)
endif()

find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# g++ 12 takes "text" + std::string for overlapping copies once it is inlined deeply enough (GCC bug
# 105651): a false alarm that comes and goes with unrelated edits.
add_compile_options(-Wno-restrict)

add_compile_definitions(QT_NO_KEYWORDS)
if(HEDDLE_SANITIZE)
  # GCC warns of what the instrumented headers leave uninitialized, wrongly. With -O2 and all debug
  # information a file that includes LibTorch takes twice as long.
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -Wno-maybe-uninitialized
                      -O1 -g1)
  add_link_options(-fsanitize=address,undefined)
endif()

if(HEDDLE_FUZZ)
  # Warnings are GCC's to give.
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -O1 -g1 -w)
  add_link_options(-fsanitize=address,undefined)
endif()

# heddle_library(NAME [APART] SOURCES … LINK …): a static library whose headers are included from the
# repository's root, as in #include "engine/recipe/recipe.h". Eight files are compiled as one, which reads
# their common headers once: names in their anonymous namespaces differ. APART compiles each by itself.
function(heddle_library name)
  cmake_parse_arguments(ARG "APART" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${HEDDLE_ROOT}")
  # GCC takes all but the first file for headers and warns that their classes have members of types that
  # have no name elsewhere.
  target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -Wno-subobject-linkage)
  set_target_properties(${name} PROPERTIES AUTOMOC_EXECUTABLE "${HEDDLE_MOC}" UNITY_BUILD ${HEDDLE_UNITY})
  if(ARG_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()
