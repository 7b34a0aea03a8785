"""What all programs of this folder share: the arguments, the conversation, the clock, and the line of JSON that they answer with.

    program.py SYSTEM chat|agent LENGTH CONVERSATION FOLDER

The conversation is a file that `contextree-bench peers conversation` wrote, one line of JSON for each step; it is read line by
line. Nothing is installed and nothing is reached over the network but a PostgreSQL server on this machine.
"""
import gc
import json
import os
import sys
import time

clock = time.perf_counter_ns

# A single question to the past takes no longer than this; if it would, the answer says so.
LONGEST_SECONDS = 60
MOST_BYTES = 2_000_000_000


class Answer:
    """Collects what was measured."""

    def __init__(self):
        self.fields = {}
        self.why = {}

    def measure(self, name, work, repeat=15):
        """Does something once to warm up, then several times. Slow work is done fewer times."""
        start = clock()
        result = work()
        first = clock() - start
        repeat = max(1, min(repeat, int(3e9 / max(first, 1))))
        times = []
        for _ in range(repeat):
            start = clock()
            result = work()
            times.append(clock() - start)
        self.fields[name] = times
        return result

    def skip(self, reason, *names):
        for name in names:
            self.why[name] = reason

    def print(self, stream=None):
        self.fields["why"] = self.why
        print(json.dumps(self.fields), file=stream or sys.stdout, flush=True)


class Run:
    """One run: the arguments, and the steps with their times."""

    def __init__(self):
        self.system, self.kind, length, self.conversation, self.folder = sys.argv[1:6]
        self.length = int(length)
        self.answer = Answer()
        self.times = []

    def lines(self, limit=None):
        with open(self.conversation, encoding="utf-8") as file:
            for number, line in enumerate(file):
                if limit is not None and number >= limit:
                    return
                yield json.loads(line)

    def began(self):
        gc.collect()
        self.answer.fields["rss_before"] = resident()

    def step(self, work):
        start = clock()
        result = work()
        self.times.append(clock() - start)
        return result

    def ended(self):
        """Keeps the times of the last steps, as every program does: a fifth of them, from 5 to 100."""
        gc.collect()
        self.answer.fields["rss"] = resident()
        self.answer.fields["turn"] = self.times[-max(5, min(100, self.length // 5)):]
        self.answer.fields["total"] = [sum(self.times)]

    def kept(self, name, messages):
        """Says how many messages were read, and how long they are: all programs must say the same."""
        count, size = messages
        self.answer.fields["messages" if name == "last" else name + "_messages"] = count
        self.answer.fields["text" if name == "last" else name + "_text"] = size


def resident():
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
    return 0


def sizes(path):
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


def remove(path):
    for end in ("", "-wal", "-shm"):
        if os.path.exists(path + end):
            os.unlink(path + end)
