//! The program as its users see it: every command, for people and for programs, and what it says when something is wrong.

mod clients;
mod data;
mod follow;
mod help;
#[cfg(unix)]
mod killed;
mod narrow;
mod pages;
mod pictures;
mod safety;
mod transcript;
mod transcripts;
