add_library(heptane_options INTERFACE)
target_compile_options(heptane_options INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wvla
  $<$<BOOL:${HEPTANE_WERROR}>:-Werror>)
target_compile_definitions(heptane_options INTERFACE _GNU_SOURCE)
if(HEPTANE_SANITIZE)
  target_compile_options(heptane_options INTERFACE -fsanitize=${HEPTANE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(heptane_options INTERFACE -fsanitize=${HEPTANE_SANITIZE})
endif()
