"""One model call: begin, send, complete."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, cast

from ._call import LOG, Caller
from ._errors import ContextreeError, UsageError, usage
from ._plain import json_text, plain
from ._results import Answer, AttemptInfo, Finding, Loss, Report

__all__ = ["Attempt"]

# Events that helpers of the SDKs add to what the provider sends.
_HELPERS = frozenset({"text", "thinking", "citation", "signature", "input_json"})


class Attempt:
    """A model call. Use it in a `with` block: an exception inside ends the call, and nothing is sealed.

    `request` has the keyword arguments for the provider's SDK, `body` the exact text.
    """

    __slots__ = ("_answer", "_begin", "_begun", "_call", "_events", "_provider")

    def __init__(self, call: Caller, provider: str, request: dict[str, Any], begun: dict[str, Any] | None = None) -> None:
        """Use `Context.attempt`, or `Context.running` for one that was begun."""
        self._call = call
        self._provider = provider
        self._begin = request
        self._begun = begun
        self._answer: Answer | None = None
        self._events: list[str] = []

    def begin(self) -> Attempt:
        """Begins the call: previews the commit and renders the request. A `with` block does this."""
        if self._begun is not None:
            raise usage("the attempt was begun already", hint="`context.attempt(…)` makes another one")
        self._begun = self._call.run("request", self._begin)
        return self

    def _state(self) -> dict[str, Any]:
        if self._begun is None:
            raise usage("the attempt was not begun", hint="use `with context.attempt(…) as attempt:`")
        return self._begun

    @property
    def id(self) -> str:
        """The id of the attempt."""
        return str(self._state()["attempt_id"])

    @property
    def body(self) -> str:
        """The exact request as JSON text: what the snapshot will say was sent."""
        return str(self._state()["request"])

    @property
    def request(self) -> dict[str, Any]:
        """The keyword arguments for the provider's SDK, such as `client.messages.create(**attempt.request)`."""
        body: dict[str, Any] = json.loads(self.body)
        return _gemini(body, self._begin["settings"]) if self._provider == "gemini" else body

    @property
    def hash(self) -> str:
        """The hash of the request."""
        return str(self._state()["hash"])

    @property
    def report(self) -> Report:
        """What the commit expires and prunes, when the call is completed."""
        return Report(self._state()["report"])

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the provider would refuse or misread."""
        return tuple(Finding(finding) for finding in self._state()["findings"])

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the request cannot express."""
        return tuple(Loss(loss) for loss in self._state()["losses"])

    @property
    def accepted(self) -> bool:
        """False if the provider would refuse the request."""
        return bool(self._state()["accepted"])

    @property
    def answer(self) -> Answer | None:
        """The answer, once the call is completed."""
        return self._answer

    def feed(self, event: object) -> None:
        """Takes an event of a stream: an object of the provider's SDK, a dictionary, or its JSON text."""
        self._state()
        text = event if isinstance(event, str) else _event(event)
        if text:
            self._events.append(text.strip())

    def complete(self, response: object = None) -> Answer:
        """Completes the call: what was sent becomes a snapshot, and the answer opens the next cycle.

        `response` is an object of the provider's SDK, a dictionary, or the body as text or bytes. Without it, the events that were fed
        are the answer.
        """
        self._state()
        if self._answer is not None:
            raise usage("the attempt was completed already")
        document = {"name": "response", "text": self._text(response)}
        self._answer = Answer(self._call.run("answer", id=self.id, response=document))
        return self._answer

    def cancel(self, error: str | None = None) -> AttemptInfo:
        """Ends the call without an answer. Nothing is sealed; what was fed is kept with the attempt."""
        partial = {"name": "stream", "text": self._stream()} if self._events else None
        return AttemptInfo(self._call.run("cancel", id=self.id, error=error, partial=partial)["attempt"])

    def _text(self, response: object) -> str:
        if response is None:
            if not self._events:
                raise usage("no response was passed and no event was fed", "response")
            return self._stream()
        if isinstance(response, (bytes, bytearray)):
            try:
                return bytes(response).decode("utf-8")
            except UnicodeDecodeError as error:
                raise usage(f"`response` is not UTF-8: {error}", "response") from error
        return response if isinstance(response, str) else json_text(response, "response")

    def _stream(self) -> str:
        # Nothing is added: an end that the provider did not send would make half an answer a whole one.
        return "".join(f"data: {event}\n\n" for event in self._events)

    def end(self, error: BaseException | None) -> None:
        """Ends a call that was not completed. What made the block end matters more than a failure here."""
        if self._begun is None or self._answer is not None:
            return
        # Ctrl-C and a cancelled task are not `Exception`s.
        canceled = error is None or not isinstance(error, Exception)
        try:
            self.cancel(None if canceled else f"{type(error).__name__}: {error}"[:2000])
        except ContextreeError as failure:
            if failure.code in ("E_ATTEMPT_ENDED", "E_ATTEMPT_NOT_FOUND"):
                return
            if error is None:
                raise
            LOG.warning("the attempt %s could not be ended: %s", self._begun.get("attempt_id"), failure)

    def __enter__(self) -> Attempt:
        """Begins the call, unless it is running already."""
        is_running = self._begun is not None and self._answer is None
        return self if is_running else self.begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends the call, if it was not completed."""
        self.end(error)

    def __repr__(self) -> str:
        """Returns one line."""
        state = "not begun" if self._begun is None else "completed" if self._answer else "running"
        return f"<Attempt {self._provider}, {state}>"


def _event(event: Any) -> str:
    if type(event).__name__ == "ChunkEvent":
        # The helper `client.chat.completions.stream` wraps what the provider sends.
        event = getattr(event, "chunk", event)
    data: Any = plain(event, "event")
    if not isinstance(data, dict):
        raise UsageError(f"an event must be an object, not `{type(event).__name__}`")
    fields = cast("dict[str, Any]", data)
    kind = fields.get("type")
    return "" if isinstance(kind, str) and kind in _HELPERS else json_text(fields, "event")


def _gemini(body: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of `client.models.generate_content`."""
    rest = dict(body)
    config: dict[str, Any] = dict(rest.pop("generationConfig", {}))
    contents = rest.pop("contents", [])
    model = rest.pop("model", settings.get("model"))
    config.update(rest)
    arguments: dict[str, Any] = {"model": model, "contents": contents}
    if config:
        arguments["config"] = config
    return arguments
