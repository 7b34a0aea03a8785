//! Requests of Gemini.
