# The one way to declare a test. The tests of a folder are one Qt Test program, such as bin/engine_recipe_tests; ctest
# runs each class in a process of its own, under its own name. An entry for each function would load LibTorch, train
# references or start sshd once for each of them.

# heddle_test(NAME SOURCES … [LINK …] [NEEDS …] [TIMEOUT seconds] [PROGRAM name] [WAITS]): a test class, NAME in ctest,
# and in its program the name of its first source. NEEDS: what is built before the program runs. TIMEOUT: what a quiet
# machine does not need. PROGRAM: another program than the folder's; the caller says why. WAITS: it mostly waits, for a
# host or a deadline, and runs beside those that work. Tests find fixtures under HEDDLE_SOURCE_DIR and programs under
# HEDDLE_BINARY_DIR; what they calibrate, check, trust or show on the desktop is not the user's.
function(heddle_test name)
  cmake_parse_arguments(ARG "WAITS" "TIMEOUT;PROGRAM" "SOURCES;LINK;NEEDS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_PROGRAM)
    heddle_test_program(ARG_PROGRAM)
  endif()
  if(NOT TARGET ${ARG_PROGRAM})
    add_executable(${ARG_PROGRAM})
    # Eight classes are compiled as one file: names in their anonymous namespaces differ. GCC takes all but the
    # first for headers and warns that their classes have members of types without a name elsewhere.
    set_target_properties(${ARG_PROGRAM} PROPERTIES AUTOMOC ON AUTOMOC_EXECUTABLE "${HEDDLE_MOC}"
                                                    UNITY_BUILD ${HEDDLE_UNITY})
    target_compile_options(${ARG_PROGRAM} PRIVATE -Wall -Wextra -Werror -Wno-subobject-linkage)
    target_compile_definitions(${ARG_PROGRAM} PRIVATE HEDDLE_SOURCE_DIR="${HEDDLE_ROOT}"
                                                      HEDDLE_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    target_link_libraries(${ARG_PROGRAM} PRIVATE heddle_test_main)
  endif()
  target_sources(${ARG_PROGRAM} PRIVATE ${ARG_SOURCES})
  target_link_libraries(${ARG_PROGRAM} PRIVATE ${ARG_LINK})
  if(ARG_NEEDS)
    add_dependencies(${ARG_PROGRAM} ${ARG_NEEDS})
  endif()
  list(GET ARG_SOURCES 0 class)
  get_filename_component(class "${class}" NAME_WE)
  # Those that wait start first, at most as many at once as tests/places.json has slots, each in one of the preset's jobs.
  # Those that work take three of the others and have the cores that the first leave them, level with ranks that yield
  # (engine/launch/spawn.cpp). The long ones start first, so that none is left over at the end.
  if(ARG_WAITS)
    add_test(NAME ${name} COMMAND ${ARG_PROGRAM} ${class})
    set(places 1)
    math(EXPR cost "20000 + ${ARG_TIMEOUT}")
    set_tests_properties(${name} PROPERTIES RESOURCE_GROUPS "waiting:1")
  else()
    add_test(NAME ${name} COMMAND nice -n 10 "$<TARGET_FILE:${ARG_PROGRAM}>" ${class})
    set(places 3)
    math(EXPR cost "10000 + ${ARG_TIMEOUT}")
  endif()
  # Both limits end what hangs, also on a machine that does much else; Qt Test's own is for a function.
  math(EXPR limit "4 * ${ARG_TIMEOUT}")
  math(EXPR limit_ms "1000 * ${limit}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} COST ${cost} PROCESSORS ${places} ENVIRONMENT
                                          "QT_QPA_PLATFORM=offscreen;DBUS_SESSION_BUS_ADDRESS=disabled:;HEDDLE_VERIFY=1;XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/test-cache;XDG_CONFIG_HOME=${CMAKE_BINARY_DIR}/test-config;XDG_DATA_HOME=${CMAKE_BINARY_DIR}/test-data;QTEST_FUNCTION_TIMEOUT=${limit_ms}")
endfunction()

# The name of the folder's test program.
function(heddle_test_program variable)
  file(RELATIVE_PATH folder "${HEDDLE_ROOT}/tests" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" folder "${folder}")
  set(${variable} ${folder}_tests PARENT_SCOPE)
endfunction()
