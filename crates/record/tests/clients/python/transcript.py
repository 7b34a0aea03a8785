"""What a client received, as lines of JSON: the same with and without the proxy."""

import json

# Of the connection, not of the answer.
CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length"}


def note(name, value):
    """Writes what a conversation received."""
    print(json.dumps([name, plain(value)], sort_keys=True), flush=True)


def plain(value):
    """Returns an object of an SDK as JSON."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json", warnings=False))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return repr(value)


def headers(response):
    """Returns the headers of a response that a proxy has to pass on."""
    pairs = [(name.lower(), value) for name, value in response.headers.items()]
    return sorted(pair for pair in pairs if pair[0] not in CONNECTION)


def refused(act):
    """Returns the error that `act` raises."""
    try:
        return {"no error": plain(act())}
    except Exception as error:
        return described(error)


def described(error):
    """Returns an error: its type, its status, what it says."""
    status = getattr(error, "status_code", getattr(error, "code", None))
    return {"type": type(error).__name__, "status": plain(status), "says": str(error)}
