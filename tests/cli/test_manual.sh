#!/usr/bin/env bash
# Manual pages and completions: every command of commands.def has a page with every option that its --help lists, and the
# three completions know every command and option; the shells that are here accept their script.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
bad() { echo "FAILED: $*"; failed=1; }
"$HEPTANE" manual --all "$folder" || bad "manual --all"
pages=$folder/man/man1
bash=$folder/bash-completion/completions/heptane zsh=$folder/zsh/site-functions/_heptane
fish=$folder/fish/vendor_completions.d/heptane.fish

options() { "$HEPTANE" "$@" --help | sed -n '/^Options:/,$s/.* --\([a-z][a-z-]*\).*/\1/p' | sed 's/^ *//'; }
has_option() { sed 's/\\-/-/g' "$1" | grep -q -- "--$2\\( \\|\\\\fR\\|$\\)"; }

commands=$(sed -n 's/^COMMAND("\([a-z]*\)".*/\1/p' "$SOURCE/compiler/cli/commands.def")
[ "$(wc -w <<<"$commands")" -ge 18 ] || bad "commands.def was not read"
bash_words() { sed -n "s/^  $1) words='\(.*\)' ;;/\1/p" "$bash"; }
for command in $commands; do
    page=$pages/heptane-$command.1
    [ -s "$page" ] || { bad "no page for $command"; continue; }
    "$HEPTANE" manual "$command" | cmp -s - "$page" || bad "manual $command differs from its page"
    grep -q "heptane-$command(1)" <(sed 's/\\-/-/g' "$pages/heptane.1") || bad "heptane.1 does not name $command"
    known=$(options "$command")
    case $command in run | bench | tune) known="$known $(options "$command" --op mlp)" ;; esac
    grep -q "^help$" <<<"$known" || grep -q "help" <<<"$known" || bad "no options found for $command"
    for option in $known; do
        has_option "$page" "$option" || bad "the page of $command lacks --$option"
        grep -q -- "--$option\b" <<<"$(bash_words "$command")" || bad "bash: $command lacks --$option"
        grep -q "__fish_seen_subcommand_from $command' -l $option " "$fish" || bad "fish: $command lacks --$option"
        sed -n "/^  $command) /,/;;/p" "$zsh" | grep -q -- "'--$option\[" || bad "zsh: $command lacks --$option"
    done
    for section in NAME SYNOPSIS DESCRIPTION EXAMPLES OPTIONS '"SEE ALSO"'; do
        grep -q "^\.SH $section" "$page" || bad "the page of $command has no $section"
    done
done
has_option "$pages/heptane-run.1" intermediate || bad "the page of run lacks the options of --op mlp"

# every environment variable that the program reads is in heptane.1
for variable in $(grep -rhoE 'getenv\("[A-Z_]+"\)|"CUDA_[A-Z]+"' "$SOURCE"/{compiler,runtime} --include=*.c | grep -oE '[A-Z_]{4,}' | sort -u); do
    case $variable in HOME | XDG_CACHE_HOME) continue ;; esac
    grep -q "$variable" "$pages/heptane.1" || bad "heptane.1 does not name $variable"
done

# in use
complete_bash() ( # words typed so far, the last one unfinished
    . "$bash"
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _heptane
    echo "${COMPREPLY[*]}"
)
[ "$(complete_bash heptane ver)" = "version verify" ] || bad "bash completes commands: $(complete_bash heptane ver)"
[ "$(complete_bash heptane run --inter)" = --intermediate ] || bad "bash completes options"
[ "$(cd "$SOURCE/compiler/cli" && complete_bash heptane verify commands.d)" = commands.def ] || bad "bash completes files"
bash -n "$bash" || bad "bash -n"
for shell in zsh fish; do
    command -v $shell >/dev/null || { echo "note: no $shell here; its script was not parsed"; continue; }
    $shell -n "${!shell}" || bad "$shell -n"
done
if command -v groff >/dev/null; then
    for page in "$pages"/*.1; do
        groff -man -ww -Tutf8 "$page" 2>&1 >/dev/null | grep -v 'cannot adjust\|can.t break' && bad "groff has complaints about $page"
    done
fi
"$HEPTANE" manual nothing >/dev/null 2>&1
[ $? = 2 ] || bad "an unknown command is wrong usage"
"$HEPTANE" completion tcsh >/dev/null 2>&1
[ $? = 2 ] || bad "an unknown shell is wrong usage"
[ $failed = 0 ] && echo ok
exit $failed
