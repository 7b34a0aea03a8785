//! `ctx conformance`: the cases of the corpus, run here and now.

mod table;

use std::collections::BTreeMap;

use contextree::Edition as Language;
use contextree::json::{Object, Value};
use contextree_conformance::{Case, Corpus, Edition, Runner, Verdict};

use super::Call;
use crate::error::{Exit, Failure};
use crate::output::Format;

/// Run the conformance cases: those in this program, or a directory of vector files
///
/// Every case runs in each of its editions. A table by area is printed, then every case that fails with what was expected and what
/// was got. Exits with 1 if one fails. With `--json` there is one object per case: `{"id","edition","pass","expected","got"}`;
/// `got` is everything that the program returned, which may be more than the case names.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ctx conformance
  ctx conformance --vectors spec/vectors
  ctx conformance HASH- SER-              only cases whose ids begin like this
  ctx conformance --edition 0.2 --jsonl | jq 'select(.pass|not)'")]
pub(crate) struct Args {
    /// Only cases whose ids begin with one of these
    cases: Vec<String>,

    /// A directory of vector files [default: the corpus in this program]
    #[arg(long, value_name = "DIR")]
    vectors: Option<String>,
}

/// A case that was run in one edition.
pub(super) struct Ran<'c> {
    pub(super) case: &'c Case,
    pub(super) edition: Edition,
    pub(super) verdict: Verdict,
}

pub(crate) fn run(args: &Args, call: &mut Call<'_>) -> Result<Exit, Failure> {
    let corpus = match &args.vectors {
        Some(directory) => Corpus::load(directory).map_err(|error| {
            Failure::new("E_IO", error.to_string())
                .with_detail("place", directory.as_str())
                .with_hint("name a directory with files like `selectors-golden-e1.json`")
        })?,
        None => Corpus::embedded().map_err(|error| Failure::new("E_CORRUPT", error.to_string()))?,
    };
    let runner = Runner::all();
    let wanted = |case: &Case| {
        args.cases.is_empty() || args.cases.iter().any(|begin| case.id.starts_with(begin.as_str()))
    };
    let edition = call.global.edition;
    let mut ran = Vec::new();
    for case in corpus.cases.iter().filter(|case| wanted(case)) {
        for edition in
            case.editions.iter().filter(|own| edition.is_none_or(|one| language(**own) == one))
        {
            ran.push(Ran { case, edition: *edition, verdict: runner.run(case, *edition) });
        }
    }
    if ran.is_empty() {
        return Err(Failure::new("E_NO_MATCH", "there is no such case")
            .with_hint("`ctx conformance --jsonl | jq -r .id` lists all ids"));
    }
    if call.output.format() == Format::Human {
        let text = table::render(&ran);
        call.output.text(&text);
    } else {
        call.output.values(ran.iter().map(to_value).collect());
    }
    Ok(if ran.iter().all(|ran| ran.verdict.is_pass()) { Exit::Ok } else { Exit::No })
}

fn language(edition: Edition) -> Language {
    match edition {
        Edition::E1 => Language::V0_1,
        Edition::E2 => Language::V0_2,
        Edition::E3 => Language::V0_3,
    }
}

fn to_value(ran: &Ran<'_>) -> Value {
    Value::Object(Object::from_iter([
        ("id", Value::from(ran.case.id.as_str())),
        ("edition", Value::from(ran.edition.to_string())),
        ("pass", Value::from(ran.verdict.is_pass())),
        ("expected", ran.case.expect().clone().into()),
        ("got", ran.verdict.got()),
    ]))
}

/// Results by area: for each edition how many passed, of how many.
pub(super) fn by_area<'c>(ran: &[Ran<'c>]) -> BTreeMap<&'c str, [(usize, usize); 3]> {
    let mut areas: BTreeMap<&str, [(usize, usize); 3]> = BTreeMap::new();
    for one in ran {
        let counts = areas.entry(one.case.area.as_str()).or_default();
        let index = Edition::ALL.iter().position(|edition| *edition == one.edition).unwrap_or(0);
        counts[index].0 += usize::from(one.verdict.is_pass());
        counts[index].1 += 1;
    }
    areas
}
