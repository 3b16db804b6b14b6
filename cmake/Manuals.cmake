# Manual pages and shell completions: the command writes them from the tables that parse its options.
set(manuals ${CMAKE_BINARY_DIR}/share)
add_custom_command(OUTPUT ${manuals}/man/man1/heptane.1
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manuals}
  COMMAND heptane_command manual --all ${manuals}
  DEPENDS heptane_command VERBATIM COMMENT "Writing manual pages and completions")
add_custom_target(manuals ALL DEPENDS ${manuals}/man/man1/heptane.1)
foreach(folder man bash-completion zsh fish)
  install(DIRECTORY ${manuals}/${folder} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR})
endforeach()
