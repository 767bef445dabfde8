"""Runs a command on a pseudo-terminal. usage: on_terminal.py '[["text to wait for", "keys to send"], ...]' COMMAND...

Prints what the terminal shows, and ends with the exit code of the command; 124 when a text does not come within half a minute.
"""
import json, os, pty, select, sys, time

steps, command = json.loads(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    os.execvp(command[0], command)
shown, seen, deadline = b"", 0, time.monotonic() + 30
while True:
    if time.monotonic() > deadline:
        os.kill(child, 9)
        sys.stdout.buffer.write(shown)
        sys.exit(124)
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        part = os.read(terminal, 65536)
    except OSError:  # The command closed the terminal.
        break
    if not part:
        break
    shown += part
    while steps and steps[0][0].encode() in shown[seen:]:
        seen = shown.index(steps[0][0].encode(), seen) + len(steps[0][0])
        os.write(terminal, steps.pop(0)[1].encode())
        deadline = time.monotonic() + 30
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 255)
