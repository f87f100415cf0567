#!/usr/bin/env python3
"""Sends a signal to a command at work and says how it ends.

usage: signal_command.py SIGNAL FILE SECONDS COMMAND...

Starts the command, waits until FILE exists ("-": does not wait) and the command has used SECONDS of processor time after
that, and sends the signal. Prints the exit code (negative: ended by that signal) and the processor time in seconds that
the command used after the signal, which does not depend on what else the machine does. "early" instead of the time means
that it ended before the signal. What the command prints goes to the files out and err.
"""
import os
import signal
import subprocess
import sys
import time

GIVE_UP = 300  # s; a command that has not ended by then is killed


def processor_seconds(pid):
    """Fields 14 and 15 of its stat; None if it has ended."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    if fields[0] == "Z":
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    number = getattr(signal, "SIG" + sys.argv[1])
    path, seconds, command = sys.argv[2], float(sys.argv[3]), sys.argv[4:]
    with open("out", "w") as out, open("err", "w") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)

    # Until it is at work.
    begin = time.monotonic()
    at_file = 0.0 if path == "-" else None
    used = 0.0
    while time.monotonic() - begin < GIVE_UP:
        used = processor_seconds(process.pid)
        if used is None:
            break
        if at_file is None and os.path.exists(path):
            at_file = used
        if at_file is not None and used - at_file >= seconds:
            break
        time.sleep(0.01)
    if used is None:
        print(process.wait(), "early")
        return

    # The end, by itself or not.
    process.send_signal(number)
    while time.monotonic() - begin < GIVE_UP:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            print(os.waitstatus_to_exitcode(status), "%.2f" % (usage.ru_utime + usage.ru_stime - used))
            return
        time.sleep(0.01)
    process.kill()
    print("no end within %d s" % GIVE_UP)


main()
