#!/bin/sh
# Launches a compiler with -fsyntax-only and creates the object file that it does not write; creates a program without
# linking it. Arguments: the output, the command.
output=$1
shift
case " $* " in *" -fsyntax-only "*) "$@" || exit ;; esac
touch "$output"
