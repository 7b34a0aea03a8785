//! Renders one snapshot after another, reusing the bytes of what did not change.
//!
//! The renderer records the state before each turn (`Start`). For the next snapshot it
//!
//! 1. finds the first turn that changed (`update`);
//! 2. truncates the output to the recorded state before that turn (`resume`), or starts over if
//!    `^sys` changed (`restart`), because tools and system text precede all messages;
//! 3. writes the remaining turns and records their states (`walk`).
//!
//! A turn may extend the message of the turn before it. The recorded output therefore ends before
//! the message that was open at the time, and `Start::open` locates that message's first part.

use contextree_json::Object;
use contextree_tree::{NodeKey, NodeRef, Region, RowNumber, Tree, TreeRef};

use super::out::Mark;
use super::preamble::is_marks;
use super::run::{Run, Used, parts_of};
use super::wire::settings_of;
use super::{
    Layout, Loss, Marks, Names, Out, Pairs, Preamble, RenderError, RenderOptions, Rendered, Span,
    Wire, order,
};
use crate::lint::{Finding, RequestLinter};
use crate::parts::Part;
use crate::{Provider, wires};

/// The turn number of parts in `^sys`.
const SYS: usize = usize::MAX;

/// Renders successive snapshots, keeping the last request and the state before each of its turns.
///
/// Everything before the first change is reused, so a conversation that grew costs only its new
/// turns. The bytes equal those of [`render`](super::render).
#[derive(Debug)]
pub struct RequestRenderer {
    provider: Provider,
    options: RenderOptions,
    last: Option<Tree>,
    out: Out,
    /// The end of the last message.
    list_end: usize,
    settings: Object,
    /// The node versions of the children of `^sys`.
    system: Vec<RowNumber>,
    /// The states before each turn and after the last. Empty if the request cannot be resumed.
    starts: Vec<Start>,
    /// The pairs of calls and results, if results may follow their calls at any distance.
    pairs: Pairs,
    /// Call ids in use, for providers that require unique ids.
    used: Used,
    /// How much of the last request is that of the request before it.
    kept: Kept,
    linter: RequestLinter,
    /// The number of messages that did not change since the linter looked at them.
    linted: usize,
}

/// The beginning that two requests have in common.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    bytes: usize,
    messages: usize,
}

/// The state before a turn.
///
/// Nodes are held by key: the next snapshot is another tree, in which unchanged nodes have the same
/// keys.
#[derive(Clone, Debug, Default)]
struct Start {
    /// Calls that results in the turn may answer.
    awaiting: Vec<NodeKey>,
    /// The last part of the message that was open.
    last: Option<NodeKey>,
    /// The end of the output before the open message.
    mark: Mark,
    /// The turn and the position of the first part of the open message.
    open: Option<(usize, usize)>,
    /// The number of call ids in use at the mark.
    used: usize,
    /// Calls without results at the mark, each with [`Part::repeat`].
    pending: Vec<(NodeKey, u32)>,
}

impl RequestRenderer {
    /// Creates a renderer without a previous request.
    #[must_use]
    pub fn new(provider: Provider, options: RenderOptions) -> Self {
        RequestRenderer {
            provider,
            options,
            last: None,
            out: Out::new(provider),
            list_end: 0,
            settings: Object::new(),
            system: Vec::new(),
            starts: Vec::new(),
            pairs: Pairs::default(),
            used: Used::default(),
            kept: Kept::default(),
            linter: RequestLinter::new(),
            linted: 0,
        }
    }

    /// Renders a snapshot.
    ///
    /// # Errors
    ///
    /// In the same cases as [`render`](super::render).
    pub fn render(&mut self, tree: &Tree) -> Result<&Rendered, RenderError> {
        let (last, bracket) = (self.last.take(), self.bracket());
        let done = self.update(tree.view(), last.as_ref().map(Tree::view));
        self.last = done.is_ok().then(|| tree.clone());
        if done.is_err() || self.bracket() != bracket {
            self.kept = Kept::default();
        }
        self.linted = self.linted.min(self.kept.messages);
        done?;
        Ok(&self.out.rendered)
    }

    /// Returns how many bytes at the beginning of the request are those of the request before it.
    /// More may be equal; these were not written again.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept.bytes
    }

    /// Returns the last request.
    #[must_use]
    pub fn rendered(&self) -> &Rendered {
        &self.out.rendered
    }

    /// Returns about how many bytes of memory the renderer takes, besides the trees that it shares.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Rendered { bytes, spans, losses, .. } = &self.out.rendered;
        let of_node = size_of::<Span>() + 32;
        bytes.capacity()
            + spans.len() * of_node
            + losses.len() * (size_of::<Loss>() + 64)
            + self.starts.len() * size_of::<Start>()
    }

    /// Returns the model that the request names, if it names one.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.settings.get("model")?.as_str()
    }

    /// Lints the last request, looking only at what changed since this was called last. The findings
    /// equal those of [`lint`](crate::lint).
    pub fn lint(&mut self) -> Vec<Finding> {
        let rendered = &self.out.rendered;
        let messages = self.out.messages as usize;
        let list = (!self.out.is_final && self.bracket() == Some(b'['))
            .then(|| (self.out.list_start + 1, self.list_end));
        let findings = self.linter.lint(rendered, Layout { list, messages }, self.linted);
        self.linted = messages;
        findings
    }

    /// Returns the byte that opens the list of messages, which one provider overwrites.
    fn bracket(&self) -> Option<u8> {
        self.out.rendered.bytes.get(self.out.list_start).copied()
    }

    /// Renders a tree without reusing anything.
    pub(crate) fn render_once(&mut self, tree: TreeRef<'_>) -> Result<(), RenderError> {
        self.update(tree, None)
    }

    pub(crate) fn into_rendered(self) -> Rendered {
        self.out.rendered
    }

    fn update(&mut self, tree: TreeRef<'_>, last: Option<TreeRef<'_>>) -> Result<(), RenderError> {
        let reserved = self.provider.reserved_fields();
        if let Some(name) = self.options.settings.keys().find(|name| reserved.contains(name)) {
            return Err(RenderError::ReservedField { name: name.to_owned() });
        }
        let wire = wires::wire(self.provider);
        // A version below this number denotes the same content in both trees.
        let common = last.and_then(|last| last.common_versions(tree));
        let is_common = |version: RowNumber| common.is_some_and(|common| version < common);
        let same = |version: Option<&RowNumber>, node: NodeRef<'_>| {
            version.is_some_and(|version| *version == node.version() && is_common(*version))
        };
        let mut versions = self.system.iter();
        let mut kept_system = !self.starts.is_empty()
            && self.system(tree).all(|node| same(versions.next(), node))
            && versions.next().is_none();
        // The number of leading turns that did not change.
        let mut kept = 0;
        if let Some(last) = last.filter(|_| kept_system) {
            kept = last.common_children(tree, Region::Seq);
        }
        if kept_system && wire.keeps_order() {
            self.pairs.rewind(kept);
            self.pair(tree, wire, kept);
            // A new or removed result changes how its call was written, however far back, so
            // everything from that call on is written again. Turn 0 is `^sys`.
            match self.pairs.changed() {
                Some(0) => kept_system = false,
                Some(turn) => kept = kept.min(turn - 1),
                None => {}
            }
        }
        let start = self.starts.get(kept).filter(|_| kept_system);
        // A message that began in `^sys` and is still open is rare: start over.
        match start.filter(|start| start.open.is_none_or(|(turn, _)| turn != SYS)).cloned() {
            Some(start) => {
                let Mark { bytes, messages, .. } = start.mark;
                self.kept = Kept { bytes, messages: messages as usize };
                self.resume(tree, wire, kept, &start);
            }
            None => {
                self.kept = Kept::default();
                self.restart(tree, wire);
            }
        }
        if self.out.messages == 0 && !wire.may_be_empty(&self.settings) {
            self.starts.clear();
            return Err(RenderError::Empty);
        }
        self.list_end = self.out.place();
        wire.end(&mut self.out, &self.settings);
        // The marks in `starts` may refer to bytes that no longer exist.
        if self.out.is_final {
            self.starts.clear();
        }
        Ok(())
    }

    /// Renders everything.
    fn restart(&mut self, tree: TreeRef<'_>, wire: &'static dyn Wire) {
        self.out.rewind(Mark::default());
        self.used.truncate(0);
        self.starts.clear();
        self.system = self.system(tree).map(NodeRef::version).collect();
        let preamble = Preamble::of(tree);
        self.out.marks = Marks::of(self.provider, &preamble, &self.options);
        self.out.texts_as_lists = wire.writes_lists(&preamble);
        self.settings = settings_of(&mut self.out, self.provider, &preamble, &self.options);
        self.out.names = Names::of(&preamble.tools, self.provider);
        wire.begin(&mut self.out, &preamble, &self.settings);
        let mut rest = preamble.rest;
        self.pairs = Pairs::new(wire.remembers(&self.settings));
        if wire.keeps_order() {
            self.pairs.push(&rest, wire.side());
            self.pair(tree, wire, 0);
            self.pairs.annotate(0, &mut rest, tree, wire.side());
        } else {
            rest = order(rest, Vec::new(), None, wire, self.pairs.remembers());
        }
        let (out, used) = (&mut self.out, &mut self.used);
        let mut run = Run { wire, out, pending: Vec::new(), open: None, used };
        run.turn(rest, SYS, 0);
        walk(run, tree, (0, 0), &mut self.pairs, &mut self.starts);
    }

    /// Keeps the first `kept` turns, except for a message that a later turn may extend.
    fn resume(&mut self, tree: TreeRef<'_>, wire: &'static dyn Wire, kept: usize, start: &Start) {
        self.out.rewind(start.mark);
        self.used.truncate(start.used);
        let (turn, from) = start.open.unwrap_or((kept, 0));
        self.starts.truncate(turn + 1);
        let pending = start.pending.iter().filter_map(|(key, repeat)| {
            let part = part_at(tree, *key)?;
            Some(Part { repeat: *repeat, ..part })
        });
        let pending = pending.collect();
        let (out, used) = (&mut self.out, &mut self.used);
        let run = Run { wire, out, pending, open: None, used };
        walk(run, tree, (turn, from), &mut self.pairs, &mut self.starts);
    }

    /// Returns the children of `^sys` that affect the request: without the marks of an imported
    /// request if the caller supplies marks.
    fn system<'a>(&self, tree: TreeRef<'a>) -> impl Iterator<Item = NodeRef<'a>> + use<'a> {
        let given = self.options.marks.is_some();
        tree.region(Region::Sys).children().filter(move |node| !(given && is_marks(*node)))
    }

    /// Pairs the calls and results of the head and of the turns from `first` on.
    fn pair(&mut self, tree: TreeRef<'_>, wire: &'static dyn Wire, first: usize) {
        let sequence = tree.region(Region::Seq);
        for number in first.. {
            let Some(turn) = sequence.child(number) else { break };
            self.pairs.push(&parts_of(turn, Region::Seq), wire.side());
        }
        self.pairs.push(&parts_of(tree.region(Region::Head), Region::Head), wire.side());
    }
}

/// Writes the turns from `first` on, and the head. In the first turn, skips the parts before
/// `from`: they belong to messages that are kept.
fn walk<'a>(
    mut run: Run<'a, '_>,
    tree: TreeRef<'a>,
    (first, from): (usize, usize),
    pairs: &mut Pairs,
    starts: &mut Vec<Start>,
) {
    let sequence = tree.region(Region::Seq);
    let wire = run.wire;
    let mut ordered = |top, region, number, awaiting, last| {
        let mut parts = parts_of(top, region);
        if wire.keeps_order() {
            pairs.annotate(number + 1, &mut parts, tree, wire.side());
            return parts;
        }
        order(parts, awaiting, last, wire, pairs.remembers())
    };
    let mut number = first;
    while let Some(turn) = sequence.child(number) {
        let (awaiting, last, skip) = match starts.get(number) {
            // The turn is written again from the middle. Its parts must get the same order as
            // before, so the recorded state is used, not the state of `run`.
            Some(start) => {
                let last = start.last.and_then(|key| part_at(tree, key));
                (parts_at(tree, &start.awaiting), last, from)
            }
            None => {
                let start = start_of(&run);
                starts.push(start);
                (run.awaiting(), run.last(), 0)
            }
        };
        run.turn(ordered(turn, Region::Seq, number, awaiting, last), number, skip);
        number += 1;
    }
    if starts.len() == number {
        starts.push(start_of(&run));
    }
    let head = tree.region(Region::Head);
    let parts = ordered(head, Region::Head, number, run.awaiting(), run.last());
    run.turn(parts, number, 0);
    run.finish();
}

fn start_of(run: &Run<'_, '_>) -> Start {
    let key = |part: &Part<'_>| part.node.key_of();
    let open = run.open.as_ref();
    Start {
        awaiting: run.awaiting().iter().map(key).collect(),
        last: run.last().map(|part| part.node.key_of()),
        mark: open.map_or_else(|| run.out.mark(), |open| open.mark),
        open: open.map(|open| open.start),
        used: open.map_or_else(|| run.used.len(), |open| open.used),
        pending: run.pending.iter().map(|part| (key(part), part.repeat)).collect(),
    }
}

fn part_at(tree: TreeRef<'_>, key: NodeKey) -> Option<Part<'_>> {
    let node = tree.at(key)?;
    Some(Part::of(node, node.region().unwrap_or(Region::Seq)))
}

fn parts_at<'a>(tree: TreeRef<'a>, keys: &[NodeKey]) -> Vec<Part<'a>> {
    keys.iter().filter_map(|key| part_at(tree, *key)).collect()
}
