//! `rows`: a state as columns, a page at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use contextree::query::{find_matches_within, plan, resolve_on_tree};
use contextree::{Content, Cycle, NodeRef};
use contextree_json::{Number, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diff::StateName;
use super::tokens::tokenizer;
use crate::wire::{AnyValue, NodeClass, Report};
use crate::workspace::{Address, Mark, Outline, Reader, Row, Sums};
use crate::{Control, Error, Workspace};

/// How many rows a page has if the request does not say.
const PAGE: usize = 1_000;

/// How many characters of a content are shown.
const EXCERPT: usize = 160;

/// Returns the nodes of a state as columns, a page at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RowsRequest {
    /// The state; the working state if it is absent.
    pub at: Option<Address>,
    /// A state to compare with: rows are marked, and rows that only this one has are listed where they were.
    pub against: Option<Address>,
    /// Only this node and what is below it: an id, or `^sys`, `^seq`, `^ah`.
    pub under: Option<String>,
    /// At most this many levels below the top; all if it is absent.
    pub depth: Option<u32>,
    /// Only rows that this selector, which has no time, matches.
    #[serde(rename = "where")]
    pub filter: Option<String>,
    /// Only rows whose content, id or key has this text; the case of letters does not matter.
    pub text: Option<String>,
    /// Only rows that differ from the state that this one is compared with.
    pub changed: bool,
    /// Leaves out the first rows.
    pub skip: usize,
    /// At most this many rows; 1,000 if it is absent.
    pub limit: Option<usize>,
    /// The columns to return; all that need no model if it is empty.
    pub columns: Vec<RowColumn>,
    /// What counts the tokens: a model, an encoding or an estimate. Without it there are no columns of tokens.
    pub model: Option<String>,
}

/// A column.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RowColumn {
    /// The id.
    Id,
    /// Levels below the root.
    Depth,
    /// The number of rows below it.
    Below,
    /// What the node is.
    Class,
    /// Its type.
    Type,
    /// Its role.
    Role,
    /// Its kind.
    Kind,
    /// Its key.
    Key,
    /// The name of the tool that it calls or defines, or of a file.
    Name,
    /// Its tags.
    Tags,
    /// How many commits it survives.
    Ttl,
    /// Its priority.
    Priority,
    /// Whether it is protected from pruning.
    Pinned,
    /// The commit that it was added for.
    Cycle,
    /// When it was created.
    CreatedAtNs,
    /// The length of its content.
    Bytes,
    /// The length of all contents of it and below it.
    BytesBelow,
    /// The tokens of its content.
    Tokens,
    /// The tokens of it and everything below it.
    TokensBelow,
    /// How it differs from the state that it is compared with.
    Mark,
    /// The fields that differ.
    Fields,
    /// Why it was removed.
    Reason,
    /// The beginning of its content.
    Excerpt,
}

const ALL: [RowColumn; 23] = {
    use RowColumn::*;
    [
        Id,
        Depth,
        Below,
        Class,
        Type,
        Role,
        Kind,
        Key,
        Name,
        Tags,
        Ttl,
        Priority,
        Pinned,
        Cycle,
        CreatedAtNs,
        Bytes,
        BytesBelow,
        Tokens,
        TokensBelow,
        Mark,
        Fields,
        Reason,
        Excerpt,
    ]
};

/// Rows of a state, as columns of equal length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowsResponse {
    /// The state.
    pub state: StateName,
    /// The state that it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<StateName>,
    /// The number of rows of the whole tree.
    pub total: usize,
    /// The number of rows that the request matches, on all pages.
    pub matched: usize,
    /// How many rows to skip for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
    /// The position of each row in the whole tree, in document order.
    pub positions: Vec<u32>,
    /// The words that `class`, `type`, `role`, `kind` and `reason` refer to.
    pub words: Vec<String>,
    /// The columns.
    pub columns: RowColumns,
}

/// Columns of equal length. Words are given by their position in `words`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[serde(rename_all = "snake_case")]
pub struct RowColumns {
    /// Ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Vec<String>>,
    /// Levels below the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<Vec<u32>>,
    /// The number of rows below each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below: Option<Vec<u32>>,
    /// What each node is: words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<Vec<u32>>,
    /// Types: words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<Vec<u32>>,
    /// Roles: words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Vec<Option<u32>>>,
    /// Kinds: words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Vec<Option<u32>>>,
    /// Keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Vec<Option<String>>>,
    /// Names of tools and files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Vec<Option<String>>>,
    /// Tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Vec<String>>>,
    /// How many commits each survives; null for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Vec<Option<u32>>>,
    /// Priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<AnyValue>>")]
    pub priority: Option<Vec<Value>>,
    /// Whether each is protected from pruning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Vec<bool>>,
    /// The commits that they were added for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<u32>>,
    /// When they were created, in nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at_ns: Option<Vec<i64>>,
    /// The lengths of their contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Vec<u64>>,
    /// The lengths of all contents of each and below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_below: Option<Vec<u64>>,
    /// The tokens of their contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<u64>>,
    /// The tokens of each and everything below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_below: Option<Vec<u64>>,
    /// How each differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<Vec<RowMark>>,
    /// The fields that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<Vec<String>>>,
    /// Why it was removed, if that is recorded: `expired`, `pruned`, `cleared`, `cascaded`, `dropped`, `removed`, `along`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Vec<Option<u32>>>,
    /// The beginnings of the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<Vec<Option<String>>>,
}

/// How a row differs from the state that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowMark {
    /// Not at all.
    Same,
    /// It is new.
    Added,
    /// Some of its fields differ.
    Changed,
    /// Only the other state has it.
    Removed,
}

impl From<Mark> for RowMark {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Same => RowMark::Same,
            Mark::Added => RowMark::Added,
            Mark::Changed => RowMark::Changed,
            Mark::Removed => RowMark::Removed,
        }
    }
}

/// Returns rows of a state. The list of rows is kept between requests, so that a page costs what it has.
///
/// # Errors
///
/// If a state or the node does not exist, the selector is invalid, or the model is unknown.
pub fn rows(
    workspace: &Workspace,
    request: &RowsRequest,
    control: &Control<'_>,
) -> Result<RowsResponse, Error> {
    let _span = workspace.span("rows");
    control.check()?;
    let limit = request.limit.unwrap_or(PAGE);
    control.check_results(limit)?;
    let tokenizer = request.model.as_deref().map(tokenizer).transpose()?;
    let mut reader = workspace.read()?;
    let (key, outline) = outline(workspace, request, &mut reader)?;
    let positions = positions(&outline, request, &reader, control)?;
    let matched = positions.len();
    let page: Vec<u32> = positions.into_iter().skip(request.skip).take(limit).collect();
    let mut wanted = request.columns.clone();
    if wanted.is_empty() {
        wanted = ALL.to_vec();
    }
    let needs_sums = [RowColumn::BytesBelow, RowColumn::TokensBelow];
    let sums = match wanted.iter().any(|column| needs_sums.contains(column)) {
        true => {
            let counter = tokenizer.map(|tokenizer| workspace.memo().counter(tokenizer));
            let key = format!("sums\0{}\0{key}", request.model.as_deref().unwrap_or_default());
            let weigh = |sums: &Sums| 4_096 + 8 * (sums.bytes.len() + sums.tokens.len());
            let compute = || outline.sums(counter.as_deref(), control);
            Some(workspace.memo().get(&key, weigh, compute)?)
        }
        false => None,
    };
    let reasons = match wanted.contains(&RowColumn::Reason) && outline.older().is_some() {
        true => reasons(&outline, &mut reader)?,
        false => BTreeMap::new(),
    };
    let counter = tokenizer.map(|tokenizer| workspace.memo().counter(tokenizer));
    let mut table = Table { words: Vec::new(), index: BTreeMap::new() };
    let view = View { outline: &outline, page: &page };
    let columns = RowColumns {
        id: view.column(&wanted, RowColumn::Id, |_, _, node| node.id().to_owned()),
        depth: view.column(&wanted, RowColumn::Depth, |_, row, _| row.depth),
        below: view.column(&wanted, RowColumn::Below, |position, row, _| row.end - position - 1),
        class: view.column(&wanted, RowColumn::Class, |_, _, node| table.word(class(node))),
        r#type: view.column(&wanted, RowColumn::Type, |_, _, node| table.word(node.node_type())),
        role: view
            .column(&wanted, RowColumn::Role, |_, _, node| node.role().map(|it| table.word(it))),
        kind: view
            .column(&wanted, RowColumn::Kind, |_, _, node| node.kind().map(|it| table.word(it))),
        key: view.column(&wanted, RowColumn::Key, |_, _, node| node.key().map(str::to_owned)),
        name: view.column(&wanted, RowColumn::Name, |_, _, node| {
            node.attribute("data_name").and_then(Value::as_str).map(str::to_owned)
        }),
        tags: view.column(&wanted, RowColumn::Tags, |_, _, node| tags(node)),
        ttl: view.column(&wanted, RowColumn::Ttl, |_, _, node| node.ttl()),
        priority: view.column(&wanted, RowColumn::Priority, |_, _, node| {
            Value::Number(Number::clone(&node.pruning_priority().to_number()))
        }),
        pinned: view.column(&wanted, RowColumn::Pinned, |_, _, node| node.has_pin()),
        cycle: view.column(&wanted, RowColumn::Cycle, |_, _, node| node.cycle().get()),
        created_at_ns: view.column(&wanted, RowColumn::CreatedAtNs, |_, _, it| it.created_at_ns()),
        bytes: view
            .column(&wanted, RowColumn::Bytes, |_, _, node| node.content().byte_len() as u64),
        bytes_below: view.sums(
            &wanted,
            RowColumn::BytesBelow,
            sums.as_ref().map(|sums| &sums.bytes[..]),
        ),
        tokens: counter.as_ref().and_then(|counter| {
            view.column(&wanted, RowColumn::Tokens, |_, _, node| counter.count_node(node))
        }),
        tokens_below: match counter {
            Some(_) => view.sums(
                &wanted,
                RowColumn::TokensBelow,
                sums.as_ref().map(|sums| &sums.tokens[..]),
            ),
            None => None,
        },
        mark: view.compared(&wanted, RowColumn::Mark, |_, row, _| row.mark.into()),
        fields: view
            .compared(&wanted, RowColumn::Fields, |_, row, node| fields(&outline, row, node)),
        reason: view.compared(&wanted, RowColumn::Reason, |_, _, node| {
            reasons.get(node.id()).map(|reason| table.word(reason))
        }),
        excerpt: view.column(&wanted, RowColumn::Excerpt, |_, _, node| excerpt(node)),
    };
    let end = request.skip + page.len();
    Ok(RowsResponse {
        state: outline.state().into(),
        against: outline.older().map(StateName::from),
        total: outline.rows().len(),
        matched,
        next: (end < matched).then_some(end),
        positions: page,
        words: table.words,
        columns,
    })
}

/// Returns the rows of the states, with a name for what they depend on.
fn outline(
    workspace: &Workspace,
    request: &RowsRequest,
    reader: &mut Reader,
) -> Result<(String, Arc<Outline>), Error> {
    let state = reader.state(request.at.unwrap_or(Address::Working))?;
    let older = request.against.map(|address| reader.state(address)).transpose()?;
    let before = older.as_ref().map(|older| reader.fingerprint(older)).transpose()?;
    let key = format!(
        "outline\0{}\0{}\0{}",
        reader.place(),
        reader.fingerprint(&state)?,
        before.unwrap_or_default()
    );
    let outline = workspace
        .memo()
        .get(&key, Outline::weight, || Ok::<_, Error>(Outline::new(state, older)))?;
    Ok((key, outline))
}

/// Returns the positions of the rows that a request asks for, on all pages.
fn positions(
    outline: &Outline,
    request: &RowsRequest,
    reader: &Reader,
    control: &Control<'_>,
) -> Result<Vec<u32>, Error> {
    let rows = outline.rows();
    let top = match &request.under {
        None => 0,
        Some(id) => outline.position(id).ok_or_else(|| {
            Error::new(
                "E_NODE_NOT_FOUND",
                format!("there is no node `{id}` in {}", outline.state().label),
            )
            .with_detail("place", id.as_str())
        })?,
    };
    let selected = match &request.filter {
        None => None,
        Some(text) => Some(selected(outline, text, reader, control)?),
    };
    let text = request.text.as_ref().map(|text| text.to_lowercase());
    let Row { depth: base, end, .. } = rows[top];
    let deepest = request.depth.map_or(u32::MAX, |depth| base.saturating_add(depth));
    let mut found = Vec::new();
    let mut position = top;
    while position < end as usize {
        let row = &rows[position];
        let is_selected = match &selected {
            None => true,
            Some(ids) => outline.node(row).is_some_and(|node| ids.contains_key(node.id())),
        };
        let has_text = text.as_ref().is_none_or(|text| {
            is_selected && outline.node(row).is_some_and(|node| has_text(node, text))
        });
        if is_selected && has_text && (!request.changed || row.mark != Mark::Same) {
            found.push(u32::try_from(position).unwrap_or(u32::MAX));
        }
        position = if row.depth >= deepest { row.end as usize } else { position + 1 };
    }
    Ok(found)
}

/// Returns whether a node has a text, which is in lower case.
fn has_text(node: NodeRef<'_>, text: &str) -> bool {
    let has = |other: &str| other.to_lowercase().contains(text);
    let in_content = match node.content() {
        Content::Absent => false,
        Content::Text(content) => has(content),
        Content::Json(value) => match value.as_str() {
            Some(content) => has(content),
            None => has(&super::ascii(value.to_canonical())),
        },
    };
    in_content || has(node.id()) || node.key().is_some_and(has)
}

/// Returns the ids that a selector matches in the state.
fn selected<'o>(
    outline: &'o Outline,
    text: &str,
    reader: &Reader,
    control: &Control<'_>,
) -> Result<BTreeMap<&'o str, ()>, Error> {
    let selector = contextree::parse(text, reader.edition())
        .map_err(|errors| Error::selector(&errors, text))?;
    let query = resolve_on_tree(&selector).map_err(|error| Error::query(&error.into(), text))?;
    let state = outline.state();
    let limits = control.query_limits(None);
    let matches = find_matches_within(&plan(query), state.tree(), state.cycle(), &limits)
        .map_err(|error| Error::query(&error, text))?;
    Ok(matches.iter().map(|node| (node.id(), ())).collect())
}

/// Returns why nodes were removed between the two states.
fn reasons(
    outline: &Outline,
    reader: &mut Reader,
) -> Result<BTreeMap<String, &'static str>, Error> {
    let older = outline.older().and_then(crate::workspace::State::cycle).unwrap_or(Cycle::ZERO);
    let newer = outline.state().cycle().unwrap_or(Cycle::MAX);
    let mut reasons = BTreeMap::new();
    for report in reader.reports(older.min(newer), older.max(newer))?.values() {
        let report = Report::from(report);
        let mut add = |ids: &[String], reason: &'static str| {
            reasons.extend(ids.iter().map(|id| (id.clone(), reason)));
        };
        add(&report.expired, "expired");
        add(&report.along, "along");
        add(&report.cascaded, "cascaded");
        add(&report.dropped, "dropped");
        for cleared in &report.cleared {
            add(std::slice::from_ref(&cleared.id), "cleared");
        }
        for pruned in &report.pruned {
            add(std::slice::from_ref(&pruned.id), "pruned");
            add(&pruned.along, "along");
        }
        for operation in &report.operations {
            if operation.operation == "remove" {
                add(std::slice::from_ref(&operation.node), "removed");
            }
        }
    }
    Ok(reasons)
}

fn fields(outline: &Outline, row: &Row, node: NodeRef<'_>) -> Vec<String> {
    if row.mark != Mark::Changed {
        return Vec::new();
    }
    let before = outline.older().and_then(|older| older.tree().get(node.id()));
    let fields = before.map(|before| contextree::diff::changed_fields(before, node));
    fields.unwrap_or_default().into_iter().map(Into::into).collect()
}

fn class(node: NodeRef<'_>) -> &'static str {
    match NodeClass::from(node.class()) {
        NodeClass::Root => "root",
        NodeClass::Region => "region",
        NodeClass::Turn => "turn",
        NodeClass::Container => "container",
        NodeClass::Block => "block",
    }
}

fn tags(node: NodeRef<'_>) -> Vec<String> {
    let tags = node.attribute("tags").and_then(Value::as_array).unwrap_or_default();
    tags.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns the beginning of a content on one line.
pub(super) fn excerpt(node: NodeRef<'_>) -> Option<String> {
    let text = match node.content() {
        Content::Absent => return None,
        Content::Text(text) => text.chars().take(EXCERPT + 1).collect::<String>(),
        Content::Json(value) => match value.as_str() {
            Some(text) => text.chars().take(EXCERPT + 1).collect(),
            None => super::ascii(value.to_canonical()).chars().take(EXCERPT + 1).collect(),
        },
    };
    let mut line: String = text.chars().take(EXCERPT).collect();
    line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().nth(EXCERPT).is_some() {
        line.push('…');
    }
    Some(line)
}

/// Words in the order of their first use.
struct Table {
    words: Vec<String>,
    index: BTreeMap<String, u32>,
}

impl Table {
    fn word(&mut self, word: &str) -> u32 {
        if let Some(index) = self.index.get(word) {
            return *index;
        }
        let index = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.push(word.to_owned());
        self.index.insert(word.to_owned(), index);
        index
    }
}

/// A page of rows.
struct View<'v> {
    outline: &'v Outline,
    page: &'v [u32],
}

impl View<'_> {
    /// Returns a column, if it is wanted.
    fn column<T>(
        &self,
        wanted: &[RowColumn],
        column: RowColumn,
        mut cell: impl FnMut(u32, &Row, NodeRef<'_>) -> T,
    ) -> Option<Vec<T>> {
        if !wanted.contains(&column) {
            return None;
        }
        let cells = self.page.iter().filter_map(|position| {
            let row = &self.outline.rows()[*position as usize];
            Some(cell(*position, row, self.outline.node(row)?))
        });
        Some(cells.collect())
    }

    /// Returns a column that only a comparison has.
    fn compared<T>(
        &self,
        wanted: &[RowColumn],
        column: RowColumn,
        cell: impl FnMut(u32, &Row, NodeRef<'_>) -> T,
    ) -> Option<Vec<T>> {
        self.outline.older()?;
        self.column(wanted, column, cell)
    }

    fn sums(
        &self,
        wanted: &[RowColumn],
        column: RowColumn,
        sums: Option<&[u64]>,
    ) -> Option<Vec<u64>> {
        let sums = sums?;
        self.column(wanted, column, |position, _, _| {
            sums.get(position as usize).copied().unwrap_or(0)
        })
    }
}
