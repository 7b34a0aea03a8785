//! Reads Claude Code sessions: a tree of entries, in which every answer of the model is a call that
//! sent what leads to it.
//!
//! Calls are imported in the order of the log. If a call does not continue the one before it, because
//! the user rewound or cleared the conversation, or a compaction replaced it, then the messages that
//! it does not contain are dropped. A call is complete when the next one begins, since its entries and
//! the results of its calls may be interleaved.

mod attachments;
mod chain;
mod read;

use contextree_engine::{CallOutcome, CallResponse};
use contextree_json::{Object, Value};
use contextree_provider::Provider;
use contextree_provider::read::{Incoming, Role};

use super::Log;
use crate::error::ImportErrorKind;
use crate::session::{About, CallInfo, Session, copies_of, settings_node};
use chain::Tree;
use read::{Answer, Body, Thinking};

pub(crate) use read::{Entry, Line, read};

/// Reads sessions.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClaudeCode {
    tree: Tree,
    /// The entries of each message of the window.
    groups: Vec<Vec<usize>>,
    /// The answer that was begun and not added yet.
    open: Option<Box<str>>,
    /// Whether the log tells which calls think; not every version does.
    knows_thinking: bool,
    /// Whether the calls for the newest prompt think.
    thinking: Thinking,
    /// Whether the call thought whose answer was begun.
    sent_thinking: Thinking,
    /// With how many tokens a call thought last.
    thinking_tokens: Option<u64>,
    /// Calls whose results the program leaves out of the requests from the next answer on.
    clears_next: Vec<Box<str>>,
    /// Those whose results the request of the answer that was begun leaves out.
    clears: Vec<Box<str>>,
    /// The name of the last answer, if the log does not name it.
    unnamed: Option<Box<str>>,
    /// Whether the user said something since the last entry of an answer.
    was_asked: bool,
    /// An id that the log gives to every answer, and what the newest of them is called instead.
    renamed: Option<(Box<str>, Box<str>)>,
    /// Whether the log is that of a subagent, whose entries are all aside.
    of_subagent: bool,
}

impl Log for ClaudeCode {
    fn entry(&mut self, value: Value, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let list = match value {
            Value::Array(list) => list,
            entry => vec![entry],
        };
        // Read everything before keeping the first entry, so that a bad list adds nothing.
        let lines: Vec<Line> = list.into_iter().map(read).collect::<Result<_, _>>()?;
        lines.into_iter().try_for_each(|line| self.line(line, session))
    }

    fn take(
        &mut self,
        entry: super::Entry,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        match entry {
            super::Entry::Claude(line) => self.line(line, session),
            super::Entry::Value(value) => self.entry(value, session),
            super::Entry::Bad(kind) => Err(kind),
            super::Entry::Message { message, .. } => session.single(message),
        }
    }

    fn end(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        self.close(session)?;
        self.follow(self.tree.entries.len(), session)?;
        let is_left = |entry: &&Entry| matches!(entry.body, Body::Message(_)) && !entry.aside;
        for _ in self.tree.entries.iter().filter(is_left) {
            session.state.skip("other_branch");
        }
        for _ in 0..self.tree.missing.len() {
            session.state.find("missing_parent");
        }
        Ok(())
    }
}

impl ClaudeCode {
    /// Takes a line that was read.
    pub(crate) fn line(
        &mut self,
        line: Line,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let mut entry = match line {
            Line::Entry(entry) => *entry,
            Line::Other(name) => {
                session.state.skip(&name);
                return Ok(());
            }
        };
        if entry.is_message() && self.groups.is_empty() && self.open.is_none() {
            // On its own, the log of a subagent is an ordinary conversation.
            self.of_subagent = entry.aside;
        }
        if self.of_subagent {
            entry.aside = !entry.aside;
        }
        if entry.aside && entry.is_message() {
            entry.body = Body::Nothing;
            entry.may_end = false;
            entry.name = "sidechain".into();
        }
        if !entry.is_message() {
            session.state.skip(&entry.name);
        }
        if !entry.aside && entry.is_message() {
            session.state.look_at(entry.time);
            self.name_answer(&mut entry);
            self.tell_apart(&mut entry);
            if entry.sets_thinking() {
                self.knows_thinking |= entry.thinking.is_some();
                self.thinking = entry.thinking.unwrap_or(Thinking::Off);
            } else if self.knows_thinking && self.thinking == Thinking::Off && entry.has_thinking()
            {
                // It was never turned off, or is on again: so it stays for the calls that follow.
                self.thinking = Thinking::On(self.thinking_tokens);
            }
        }
        let answer = entry.answer.as_ref().filter(|_| !entry.aside).map(|answer| answer.id.clone());
        if let Some(answer) = answer
            && self.open.as_ref() != Some(&answer)
        {
            self.close(session)?;
            self.open = Some(answer);
            self.sent_thinking = self.thinking;
            self.clears.append(&mut self.clears_next);
        }
        if entry.is_boundary && !entry.aside {
            self.close(session)?;
        }
        if let Some(calls) = entry.cleared.take().filter(|_| !entry.aside) {
            session.state.find("results_cleared");
            self.clears_next.extend(calls);
        }
        let (is_main, is_summary) = (!entry.aside, entry.is_summary);
        let turns = entry.is_prompt();
        let Some(index) = self.tree.push(entry).filter(|_| is_main) else { return Ok(()) };
        if is_summary || turns { self.turn_to(index, session) } else { Ok(()) }
    }

    /// Names an answer that has no id: consecutive entries of the model are one answer.
    fn name_answer(&mut self, entry: &mut Entry) {
        let Some(answer) = &mut entry.answer else {
            self.unnamed = None;
            return;
        };
        if !answer.id.is_empty() {
            self.unnamed = None;
            return;
        }
        let position = self.tree.entries.len();
        let name = self.unnamed.get_or_insert_with(|| format!("answer at {position}").into());
        answer.id = name.clone();
    }

    /// Gives an answer another name if its id is that of an answer before the newest prompt, unless it
    /// repeats that: some proxies give the same id to every answer.
    fn tell_apart(&mut self, entry: &mut Entry) {
        if entry.is_prompt() {
            self.was_asked = true;
        }
        let position = self.tree.entries.len();
        let Some(answer) = &entry.answer else { return };
        let is_known = self.tree.has_answer(&answer.id);
        if std::mem::take(&mut self.was_asked) && is_known && !self.tree.is_repeated(entry) {
            let name = format!("{} at {position}", answer.id).into();
            self.renamed = Some((answer.id.clone(), name));
        }
        let renamed = self.renamed.as_ref().filter(|(id, _)| *id == answer.id);
        if let (Some((_, name)), Some(answer)) = (renamed, &mut entry.answer) {
            answer.id = name.clone();
        }
    }

    /// Turns to another past at once, if a summary or a prompt has one: the user rewound or cleared
    /// the conversation, or a compaction replaced it.
    fn turn_to(&mut self, index: usize, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let end = self.tree.after(index);
        let chain = self.tree.chain(end);
        let continues = self.kept(chain.anchor) == self.groups.len();
        if continues && !self.is_abandoned(index, &chain) {
            return Ok(());
        }
        self.close(session)?;
        self.follow(index, session)?;
        let mut chain = self.tree.chain(end);
        chain.entries.push(end);
        self.place(&chain, session)?;
        session.settle()
    }

    /// Returns whether the prompt before an entry does not lead to it and was never sent: the user
    /// replaced it before the model answered.
    fn is_abandoned(&self, index: usize, chain: &chain::Chain) -> bool {
        let last = self.tree.entries[..index].iter().rposition(Entry::is_prompt);
        last.is_some_and(|last| !self.is_placed(last) && !chain.entries.contains(&last))
    }

    /// Adds what continues the window and was written before an entry, although no call has sent it.
    /// Anything else that was never sent cannot take the place of what was.
    fn follow(&mut self, index: usize, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Some(end) = self.tree.newest_end(index).filter(|end| !self.is_placed(*end)) else {
            return Ok(());
        };
        let mut chain = self.tree.chain(end);
        chain.entries.push(end);
        if self.kept(chain.anchor) == self.groups.len() {
            self.place(&chain, session)?;
        }
        Ok(())
    }

    fn is_placed(&self, index: usize) -> bool {
        self.tree.entries[index].group.is_some()
    }

    /// Adds the call whose answer was begun: what it sent, and the answer.
    fn close(&mut self, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let Some(answer) = self.open.take() else { return Ok(()) };
        let members = self.tree.members(&answer);
        let members: Vec<usize> =
            members.into_iter().filter(|index| !self.is_placed(*index)).collect();
        let Some(first) = self.tree.first_of(&members) else { return Ok(()) };
        let mut chain = self.tree.chain(first);
        if self.kept(chain.anchor) < self.groups.len() {
            self.follow(first, session)?;
            chain = self.tree.chain(first);
        }
        let sent_at = self.place(&chain, session)?;
        session.clear_results(&std::mem::take(&mut self.clears));
        let answers: Vec<&Answer> =
            members.iter().filter_map(|index| self.tree.entries[*index].answer.as_ref()).collect();
        let model = answers.iter().find_map(|answer| answer.model.clone());
        let outcome = outcome_of(&answers);
        if let Some(model) = &model {
            let settings = Object::from_iter([("model", Value::String(model.clone()))]);
            session.system(vec![settings_node(settings, Provider::Anthropic)])?;
        }
        let mut settings = Object::new();
        if self.knows_thinking {
            // An answer that thinks says more than the prompt: a skill may have turned it on.
            let thought = members.iter().any(|index| self.tree.entries[*index].has_thinking());
            let thinking = match self.sent_thinking {
                Thinking::Off if thought => Thinking::On(self.thinking_tokens),
                thinking => thinking,
            };
            if let Thinking::On(tokens) = thinking {
                self.thinking_tokens = tokens;
            }
            if let Some(setting) = thinking.setting() {
                settings.insert("thinking", setting);
            }
        }
        let time = |index: &usize| self.tree.entries[*index].time;
        let started_at = sent_at.or_else(|| members.iter().find_map(time));
        let ended_at = members.iter().filter_map(time).max();
        session.begin_call(CallInfo { model, started_at, settings, ..CallInfo::default() })?;
        self.add(members, session)?;
        session.end_call(outcome, ended_at)
    }

    /// Returns how many messages of the window stay if a conversation continues after one of them:
    /// the results of its calls belong to an answer.
    fn kept(&self, anchor: Option<usize>) -> usize {
        let Some(anchor) = anchor else { return 0 };
        let entry = |group: usize| Some(&self.tree.entries[*self.groups.get(group)?.first()?]);
        let is_answer = entry(anchor).is_some_and(|entry| entry.answer.is_some());
        let has_results = entry(anchor + 1).is_some_and(Entry::is_results);
        if is_answer && has_results { anchor + 2 } else { anchor + 1 }
    }

    /// Brings the window to what leads to an entry. Returns the time of the last entry that was
    /// added.
    fn place(
        &mut self,
        chain: &chain::Chain,
        session: &mut Session<'_>,
    ) -> Result<Option<i64>, ImportErrorKind> {
        let kept = self.kept(chain.anchor);
        // The answer whose results may be missing: the last one that stays, or the one before its
        // results.
        let groups = self.groups[..kept].iter().rev();
        let answer = groups.take(2).find(|group| self.tree.entries[group[0]].answer.is_some());
        let before = answer.cloned().unwrap_or_default();
        if kept < self.groups.len() {
            self.drop_after(kept, chain.is_compacted, session)?;
        }
        let mut last = None;
        for group in self.tree.arrange(&before, &chain.entries) {
            let times = group.iter().filter_map(|index| self.tree.entries[*index].time);
            last = last.max(times.max());
            self.add(group, session)?;
        }
        Ok(last)
    }

    /// Drops the messages after the first `kept`. What no call has sent yet is committed first, so
    /// that the history has it.
    fn drop_after(
        &mut self,
        kept: usize,
        is_compacted: bool,
        session: &mut Session<'_>,
    ) -> Result<(), ImportErrorKind> {
        let finding = match kept {
            0 if is_compacted => "compaction",
            0 => "cleared",
            _ => "rewound",
        };
        session.state.find(finding);
        session.commit()?;
        session.retain(|index, _| index < kept)?;
        for group in self.groups.drain(kept..) {
            for index in group {
                self.tree.entries[index].group = None;
            }
        }
        Ok(())
    }

    /// Adds the entries of one message.
    fn add(&mut self, group: Vec<usize>, session: &mut Session<'_>) -> Result<(), ImportErrorKind> {
        let cycle = session.context.next_cycle();
        let (mut parts, mut times, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let mut said: Option<Role> = None;
        let mut is_context = true;
        for index in &group {
            let entry = &mut self.tree.entries[*index];
            let placeholder = Body::Nothing;
            let message = match std::mem::replace(&mut entry.body, placeholder) {
                Body::Message(message) => message,
                Body::Added { role, cycle, nodes } => {
                    let parts = copies_of(session.context, cycle, &nodes);
                    Incoming::new(role, parts)
                }
                Body::Nothing => continue,
            };
            let role = *said.get_or_insert(message.role);
            entry.body = Body::Added { role, cycle, nodes: Vec::new() };
            is_context &= entry.is_context;
            times.extend(std::iter::repeat_n(entry.time, message.parts.len()));
            counts.push((*index, message.parts.len()));
            parts.extend(message.parts);
        }
        let Some(role) = said else { return Ok(()) };
        // The program sends consecutive messages of the user as one.
        let about = About { times, is_context, is_merged: role != Role::Assistant };
        session.add(Incoming { role, parts }, &about)?;
        let nodes = session.state.window.last().map(|last| last.nodes.clone()).unwrap_or_default();
        let mut nodes = nodes.into_iter();
        for (index, count) in counts {
            let entry = &mut self.tree.entries[index];
            entry.group = Some(self.groups.len());
            entry.body = Body::Added { role, cycle, nodes: nodes.by_ref().take(count).collect() };
        }
        self.groups.push(group);
        Ok(())
    }
}

/// Returns what the provider reported. Each entry of an answer has the numbers so far, so the last
/// one counts.
fn outcome_of(answers: &[&Answer]) -> CallOutcome {
    let Some(last) = answers.last() else { return CallOutcome::default() };
    let usage = last.usage.clone();
    let output = answers.iter().filter_map(|answer| answer.usage.output).max();
    let stop_reason = answers.iter().rev().find_map(|answer| answer.usage.stop_reason.clone());
    let request_id = answers.iter().find_map(|answer| answer.request_id.clone());
    let diagnostics = answers.iter().rev().find_map(|answer| answer.usage.diagnostics.clone());
    CallOutcome {
        token_in: usage.input,
        token_out: output,
        response: CallResponse {
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_write_5m: usage.cache_write_5m,
            cache_write_1h: usage.cache_write_1h,
            reasoning: usage.reasoning,
            model: usage.model,
            stop_reason,
            response_id: usage.id,
            request_id: request_id.map(Into::into),
            diagnostics,
        },
    }
}
