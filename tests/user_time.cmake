# user_time(<result> <command>...): sets <result> to the user time of a compilation, in milliseconds. It must succeed.
function(user_time result)
  execute_process(COMMAND bash -c "TIMEFORMAT=%3U; time \"$@\"" - ${ARGN}
                  ERROR_VARIABLE seconds RESULT_VARIABLE failed ERROR_STRIP_TRAILING_WHITESPACE)
  if(failed)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command} failed:\n${seconds}")
  endif()
  string(REGEX MATCH "([0-9]+)[.,]([0-9]+)$" seconds "${seconds}")
  math(EXPR milliseconds "1000 * ${CMAKE_MATCH_1} + 1${CMAKE_MATCH_2} - 1000")
  set(${result} ${milliseconds} PARENT_SCOPE)
endfunction()
