#!/usr/bin/env python3
"""Runs a command on a terminal of its own, sends it Ctrl-C once its output matches a pattern ("-": never), and prints what
the terminal got. Usage: on_terminal.py PATTERN COMMAND...
Exit: the command's; 99 if it went on for more than half a second after Ctrl-C; 98 if the pattern never came."""
import os
import pty
import re
import sys
import time

SLOW = 0.5
pattern, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
output, pressed, took = b"", None, 0
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the other end is closed
        break
    if not piece:
        break
    output += piece
    if pressed is None and pattern != "-" and re.search(pattern.encode(), output):
        os.write(terminal, b"\x03")
        pressed = time.monotonic()
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(output)
if pressed is not None and time.monotonic() - pressed > SLOW:
    print(f"{time.monotonic() - pressed:.1f} s after Ctrl-C")
    code = 99
elif pressed is None and pattern != "-":
    code = 98
sys.exit(code)
