//! Finds the cases of the corpus that show a requirement, and runs them.

use std::path::Path;

use contextree_conformance::{Corpus, Runner, Verdict};

use super::rows::Row;

/// A case that was run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) id: String,
    pub(super) file: String,
    covers: Vec<String>,
    pub(super) failed: bool,
    /// Whether it needs a check that does not exist yet.
    pub(super) waits: bool,
}

/// All cases.
#[derive(Debug)]
pub(super) struct Cases(Vec<Ran>);

impl Cases {
    pub(super) fn run(directory: &Path) -> Result<Cases, String> {
        let corpus = Corpus::load(directory).map_err(|error| error.to_string())?;
        let runner = Runner::all();
        let run = corpus.cases.into_iter().map(|case| {
            let verdicts: Vec<Verdict> =
                case.editions.iter().map(|edition| runner.run(&case, *edition)).collect();
            Ran {
                failed: verdicts
                    .iter()
                    .any(|verdict| matches!(verdict, Verdict::Fail { .. } | Verdict::Broken(_))),
                waits: verdicts.iter().any(|verdict| matches!(verdict, Verdict::Unsupported(_))),
                id: case.id,
                file: case.file,
                covers: case.covers,
            }
        });
        Ok(Cases(run.collect()))
    }

    /// Returns the cases of a row: those that name it, and those that its acceptance test names.
    pub(super) fn of(&self, row: &Row) -> Vec<Ran> {
        let names = names(&row.acceptance);
        let is_named =
            |case: &&Ran| case.covers.contains(&row.id) || names.iter().any(|name| name.fits(case));
        self.0.iter().filter(is_named).cloned().collect()
    }
}

/// How an acceptance test names cases.
#[derive(Debug, PartialEq)]
enum Name {
    /// `content-hash.json`: all cases of a file.
    File(String),
    /// `LC-8.1`, or `INS-*-SEALED`, where the star matches any text.
    Id(String),
}

impl Name {
    fn fits(&self, case: &Ran) -> bool {
        match self {
            Name::File(file) => case.file == *file,
            Name::Id(pattern) => match pattern.split_once('*') {
                // A case in several editions has one id for each: `EX-02-E1`.
                None => case
                    .id
                    .strip_prefix(pattern.as_str())
                    .is_some_and(|rest| matches!(rest, "" | "-E1" | "-E2" | "-E3")),
                Some((start, end)) => {
                    case.id.len() >= pattern.len() - 1
                        && case.id.starts_with(start)
                        && case.id.ends_with(end)
                }
            },
        }
    }
}

/// Finds names in prose: `TTL-8.1-0, LC-8.1.`, `SNAP-1…4`, `ERR-02/03`.
fn names(prose: &str) -> Vec<Name> {
    let words = prose.split(|character: char| {
        character.is_whitespace() || [',', ';', '(', ')', '`'].contains(&character)
    });
    let mut names = Vec::new();
    for word in words.map(|word| word.trim_end_matches('.')) {
        if word.ends_with(".json") {
            names.push(Name::File(word.to_owned()));
        } else if let Some((first, last)) = word.split_once('…') {
            names.extend(span(first, last));
        } else if let Some((first, second)) = word.split_once('/') {
            names.push(Name::Id(first.to_owned()));
            names.push(Name::Id(format!("{}{second}", without_digits(first))));
        } else if word.contains('-') {
            names.push(Name::Id(word.to_owned()));
        }
    }
    names
}

fn without_digits(id: &str) -> &str {
    id.trim_end_matches(|character: char| character.is_ascii_digit())
}

/// Expands `SNAP-1` and `4` to four ids, `ERR-35` and `37` to three.
fn span(first: &str, last: &str) -> Vec<Name> {
    let prefix = without_digits(first);
    let digits = &first[prefix.len()..];
    let (Ok(low), Ok(high)) = (digits.parse::<u32>(), last.parse::<u32>()) else {
        return Vec::new();
    };
    let width = digits.len();
    (low..=high).map(|number| Name::Id(format!("{prefix}{number:0width$}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Name, names};

    #[test]
    fn names_are_found_in_prose() {
        let ids = |prose: &str| -> Vec<String> {
            names(prose)
                .into_iter()
                .map(|name| match name {
                    Name::File(text) | Name::Id(text) => text,
                })
                .collect()
        };
        assert_eq!(ids("TTL-8.1-0, LC-8.1."), ["TTL-8.1-0", "LC-8.1"]);
        assert_eq!(ids("SNAP-1…3."), ["SNAP-1", "SNAP-2", "SNAP-3"]);
        assert_eq!(ids("ERR-09…10"), ["ERR-09", "ERR-10"]);
        assert_eq!(ids("HASH-TEST1/2; move test."), ["HASH-TEST1", "HASH-TEST2"]);
        assert_eq!(ids("see canonical-order.json, INS-*"), ["canonical-order.json", "INS-*"]);
    }
}
