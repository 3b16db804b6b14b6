#!/usr/bin/env bash
# Installs into an empty folder, runs the installed command away from the source tree, and builds a program against each
# library: through find_package, and through pkg-config.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cmake --install "$BINARY" --prefix "$place/usr" >/dev/null
"$place/usr/bin/heptane" version

mkdir "$place/user"
cat >"$place/user/main.c" <<'PROGRAM'
#include <heptane/rt.h>
#include <heptane/scheme.h>
#include <stdio.h>
int main(void) {
    hpt_error error = {0};
    hpt_scheme *scheme = 0;
    if (hpt_scheme_read(&scheme, "strassen", 0, &error) != HPT_OK) return puts(error.message), 1;
    printf("rank %d\n", hpt_scheme_rank(scheme));
    hpt_scheme_destroy(scheme);
    return 0;
}
PROGRAM
cat >"$place/user/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(heptane REQUIRED)
add_executable(user main.c)
target_link_libraries(user heptane::heptane heptane::heptane_rt)
PROJECT
cmake -S "$place/user" -B "$place/user/build" -DCMAKE_PREFIX_PATH="$place/usr" >/dev/null
cmake --build "$place/user/build" >/dev/null
[ "$("$place/user/build/user")" = "rank 7" ]

flags() { PKG_CONFIG_PATH=$(dirname "$(find "$place/usr" -name heptane.pc)") pkg-config --static "$@"; }
[ "$(flags --modversion heptane)" = "$("$place/usr/bin/heptane" version | cut -d' ' -f2)" ]
# found where they were installed to, whatever prefix the build was configured with
for library in heptane heptane_rt; do
    [ "$library" = heptane ] && source=$place/user/main.c || source=$SOURCE/runtime/example/gemm.c
    # shellcheck disable=SC2046
    cc "$source" $(flags --cflags --libs $library) $([ $library = heptane ] && flags --libs heptane_rt) -o "$place/user/by-$library"
done
[ "$("$place/user/by-heptane")" = "rank 7" ]
[ "$("$place/user/by-heptane_rt" 2>&1)" = "usage: example_gemm FOLDER M N K" ]

# manual pages and completions
for file in man/man1/heptane.1 man/man1/heptane-verify.1 bash-completion/completions/heptane zsh/site-functions/_heptane \
    fish/vendor_completions.d/heptane.fish; do
    [ -s "$place/usr/share/$file" ] || { echo "FAILED: share/$file is not installed" >&2; exit 1; }
done
echo ok
