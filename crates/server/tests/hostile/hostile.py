"""Hostile requests against a real `ctx serve`: no 500, no hang, bounded memory.

    python hostile.py CTX [--cases N] [--seed N]

1. schemathesis makes requests from `/openapi.json`, valid and invalid ones.
2. Slow connections, 100 MB bodies, deep and wide JSON, and expensive selectors, while another client must still be answered.

Needs the packages in `requirements.txt` beside this file; `cargo xtask hostile` installs them and runs this.
"""

import argparse
import contextlib
import http.client
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

# What a response must be. Whether valid requests are accepted is not among it: no schema says what a selector is.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "negative_data_rejection",
    "ignored_auth",
]

# Streams do not end; a session ends the cookie, not the token.
ENDLESS = ["events", "events_of_context"]

# How many cases are made for each example that is asked for, of all routes. Some routes have few different requests.
PER_EXAMPLE = 65

# The most memory that the server may ever have had, in MiB: a debug build that holds 256 MiB of bodies, one of them parsed.
MOST_MEMORY = 3_000

# The longest time that an honest request may take while others are hostile, in seconds. It is about hangs, not about speed.
PATIENCE = 20

LIMIT = 64 << 20


class Server:
    """A server over a store of its own, in a folder that is removed afterwards."""

    def __init__(self, ctx, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="hostile-")
        self.path = Path(self.folder.name)
        self.store = f"sqlite:{self.path}/contexts.db"
        for arguments in (["new"], ["add", "--role", "user", "Will it rain?"], ["commit"], ["add", "--role", "user", "And now?"]):
            subprocess.run([ctx, "--store", self.store, "-c", "main", *arguments], check=True, capture_output=True)
        self.log = open(self.path / "log", "w+")
        self.process = subprocess.Popen(
            [ctx, "--store", self.store, "serve", "--listen", "127.0.0.1:0", "--token-file", self.path / "token", "--log", "json", *options],
            # `backup` writes where it is told; names without a folder are in this one.
            cwd=self.path,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.port = int(re.search(r"127\.0\.0\.1:(\d+)", self.process.stdout.readline())[1])
        self.token = (self.path / "token").read_text().strip()
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
        self.folder.cleanup()

    def failures(self):
        """Returns the lines of the log about requests that failed in the server. A caller who is too slow or asks for too much gets 503."""
        self.log.flush()
        lines = (self.path / "log").read_text(errors="replace").splitlines()
        return [line for line in lines if re.search(r'"status":500|panicked', line)]

    def memory(self):
        """Returns the most memory that the process has had, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status")
        if not status.exists():
            return 0
        return int(re.search(r"VmHWM:\s*(\d+)", status.read_text())[1]) >> 10

    def head(self, method, path, *headers):
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Authorization: Bearer {self.token}", *headers]
        return "\r\n".join(lines).encode()

    def call(self, method, path, body=None, patience=PATIENCE, headers=()):
        """Returns the status and the body of a response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        sent = {"Authorization": f"Bearer {self.token}", **dict(headers)}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        # A response may arrive before the body is sent.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body, sent)
        try:
            response = connection.getresponse()
            return response.status, response.read()
        except (ConnectionError, http.client.HTTPException) as error:
            return 0, str(error).encode()
        finally:
            connection.close()


def fail(text):
    sys.exit(f"hostile: {text}")


def say(text):
    print(f"hostile: {text}", flush=True)


def fuzz(server, cases, seed):
    """Lets schemathesis make requests, at least as many as asked for; returns how many."""
    examples = max(1, -(-cases // PER_EXAMPLE))
    schemathesis = Path(sys.executable).with_name("schemathesis")
    arguments = [schemathesis, "run", f"{server.url}/openapi.json", "-H", f"Authorization: Bearer {server.token}"]
    arguments += ["--seed", str(seed), "--max-examples", str(examples), "--workers", "1", "--request-timeout", str(PATIENCE)]
    arguments += ["--generation-database", "none", "--checks", ",".join(CHECKS), "--warnings", "off", "--continue-on-failure"]
    arguments += ["--phases", "examples,coverage,fuzzing"]
    for operation in ENDLESS:
        arguments += ["--exclude-operation-id", operation]
    done = subprocess.run(arguments, cwd=server.path, capture_output=True, text=True)
    made = re.search(r"([\d,]+) generated", done.stdout)
    if done.returncode != 0 or made is None:
        fail(f"schemathesis found something:\n{done.stdout[-12_000:]}\n{done.stderr[-2_000:]}")
    number = int(made[1].replace(",", ""))
    if number < cases:
        fail(f"schemathesis made {number:,} requests, fewer than the {cases:,} that were asked for: PER_EXAMPLE is too large")
    return number


def answered(server, during):
    """Fails unless an honest client is answered."""
    for path in ("/health", "/v1/contexts/main/status"):
        status, body = server.call("GET", path)
        if status != 200:
            fail(f"{path} was answered with {status} during {during}: {body[:300]}")


def expect(outcome, statuses, what):
    status, body = outcome
    # 0: the connection was closed while the body was being sent.
    if status not in (0, *statuses):
        fail(f"{what}: {status} {body[:300]}")


def slow_connections(server):
    """Opens connections that send a part of a head, or of a body, and nothing more. All of them must be closed by the server."""
    half_head = server.head("GET", "/v1/contexts/main/show")[:60]
    half_body = server.head("POST", "/v1/contexts/main/add", "Content-Type: application/json", "Content-Length: 1000") + b'\r\n\r\n{"node":'
    streams = []
    for number in range(600):
        stream = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE + 60)
        stream.sendall(half_head if number % 2 == 0 else half_body)
        streams.append(stream)
    answered(server, "600 slow connections")
    for stream in streams:
        with contextlib.suppress(ConnectionError):
            while stream.recv(4096):
                pass
        stream.close()
    answered(server, "the end of slow connections")


def slow_readers(server):
    """Asks for much and reads nothing."""
    request = server.head("GET", "/openapi.json") + b"\r\n\r\n"
    streams = []
    for _ in range(100):
        stream = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stream.sendall(request * 4)
        streams.append(stream)
    answered(server, "100 clients that do not read")
    for stream in streams:
        stream.close()


def large_bodies(server):
    """Sends bodies of 100 MB: with their length, without it, and several at once."""
    def pieces(total):
        piece = b"x" * (1 << 20)
        yield b'{"node":{"content":"'
        for _ in range(total >> 20):
            yield piece

    large = 100 << 20
    expect(server.call("POST", "/v1/contexts/main/add", b" " * large), (413,), "a body of 100 MB")
    chunked = {"Transfer-Encoding": "chunked"}
    for path in ("/v1/contexts/main/add", "/v1/contexts/main/import", "/v1/session", "/mcp"):
        outcome = server.call("POST", path, pieces(large), headers=chunked)
        expect(outcome, (400, 401, 403, 406, 413, 415, 422, 503), f"100 MB in pieces to {path}")
    outcomes = []
    send = lambda: outcomes.append(server.call("POST", "/v1/contexts/main/add", pieces(LIMIT - (2 << 20)), headers=chunked, patience=120))
    threads = [threading.Thread(target=send) for _ in range(12)]
    for thread in threads:
        thread.start()
    answered(server, "12 bodies of 62 MB at once")
    for thread in threads:
        thread.join()
    for outcome in outcomes:
        expect(outcome, (400, 422, 503), "one of 12 bodies of 62 MB")


def odd_json(server):
    """Sends JSON that is deep, wide, or has long numbers and many keys."""
    megabyte = 1 << 20
    bodies = {
        "deep arrays": b'{"node":' + b"[" * (8 * megabyte),
        "deep objects": b'{"a":' * megabyte,
        "wide arrays": b'{"node":[' + b"0," * (4 * megabyte) + b"0]}",
        "many keys": b"{" + b",".join(b'"%d":0' % number for number in range(200_000)) + b"}",
        "a long number": b'{"node":{"ttl":' + b"9" * megabyte + b"}}",
        "a number with a large exponent": b'{"node":{"ttl":1e999999999}}',
        "the same key": b'{"node":{},"node":{}}',
        "half a surrogate": b'{"node":{"content":"\\ud800"}}',
        "bytes that are not UTF-8": b'{"node":{"content":"\xff\xfe"}}',
        "a byte order mark": b"\xef\xbb\xbf{}",
        "nothing but a word": b"null",
    }
    for name, body in bodies.items():
        expect(server.call("POST", "/v1/contexts/main/add", body), (400, 413, 422), name)
    deep = "[" * 100_000
    expect(server.call("GET", f"/v1/contexts/main/select?selector={'(' * 5_000}"), (400, 413, 422), "a deep selector")
    expect(server.call("GET", f"/v1/contexts/main/rows?limit={deep[:30_000]}"), (400, 413, 414, 422, 431), "deep JSON in a query")
    expect(server.call("GET", "/" + "a" * 200_000), (404, 414, 431), "a long path")
    answered(server, "odd JSON")


def slow_selectors(server):
    """Runs selectors that visit every pair of nodes, more of them than there are threads."""
    messages = [{"role": "user" if number % 2 == 0 else "assistant", "content": f"message {number}"} for number in range(6_000)]
    outcome = server.call("POST", "/v1/contexts/many/import", json.dumps({"model": "gpt-5", "messages": messages}), patience=300)
    if outcome[0] != 200:
        fail(f"the import: {outcome}")
    selectors = [
        "(" * 200 + "*" + ")" * 200,
        "* * * * * * * *",
        "@* .block[role='user'] ~ .block ~ .block ~ .block",
        "*, " * 2_000 + "*",
        "?" + "a" * 10_000,
        "^seq " + "> * " * 300,
        ".block[content='" + "x" * 20_000 + "']",
    ]
    quoted = [quote(selector) for selector in selectors]
    outcomes = []

    def select(selector):
        outcomes.append((selector[:60], server.call("GET", f"/v1/contexts/many/select?what=count&selector={selector}", patience=90)))

    def ask_as_model(selector):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "select", "arguments": {"context": "many", "selector": selector}}})
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
        outcomes.append((f"of a tool: {selector[:60]}", server.call("POST", "/mcp", body, headers=headers, patience=90)))

    threads = [threading.Thread(target=select, args=(quoted[number % len(quoted)],)) for number in range(40)]
    threads += [threading.Thread(target=ask_as_model, args=(selectors[number % len(selectors)],)) for number in range(40)]
    for thread in threads:
        thread.start()
    answered(server, "80 slow selectors")
    for thread in threads:
        thread.join()
    for selector, outcome in outcomes:
        expect(outcome, (200, 400, 413, 414, 422, 431, 503), f"the selector {selector}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ctx")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ctx = os.path.abspath(options.ctx)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8_192), hard))

    server = Server(ctx)
    try:
        say(f"{fuzz(server, options.cases, options.seed):,} requests by schemathesis, seed {options.seed}: nothing found")
        if server.failures():
            fail("\n".join(server.failures()[:10]))
    finally:
        server.stop()

    server = Server(ctx, "--max-time", "15")
    try:
        for attack in (odd_json, large_bodies, slow_readers, slow_connections, slow_selectors):
            name = attack.__name__.replace("_", " ")
            before = time.monotonic()
            attack(server)
            if server.process.poll() is not None:
                fail(f"the server ended during {name}")
            say(f"{name}: {time.monotonic() - before:.0f} s, at most {server.memory()} MiB so far")
        if server.failures():
            fail("\n".join(server.failures()[:10]))
        if server.memory() > MOST_MEMORY:
            fail(f"the server had {server.memory()} MiB of memory")
    finally:
        server.stop()
    say("no 500, no hang, bounded memory")


if __name__ == "__main__":
    main()
