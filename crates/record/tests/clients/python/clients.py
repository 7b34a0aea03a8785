"""Holds the same conversations through the official Python SDKs, wherever their base URLs lead."""

import with_anthropic
import with_google
import with_openai

with_anthropic.run()
with_openai.run()
with_google.run()
