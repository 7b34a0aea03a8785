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
    ///
    /// # Errors
    ///
    /// If the acceptance test names a case that does not exist: it would show nothing, and no one would notice.
    pub(super) fn of(&self, row: &Row) -> Result<Vec<Ran>, String> {
        let mut named = vec![false; self.0.len()];
        for name in names(&row.acceptance).iter().filter(|name| self.is_meant(name)) {
            let found = self.positions(name);
            if found.is_empty() {
                return Err(format!("{}: there is no case {name:?}", row.id));
            }
            found.into_iter().for_each(|index| named[index] = true);
        }
        let cases = self.0.iter().zip(named);
        let cases = cases.filter(|(case, named)| *named || case.covers.contains(&row.id));
        Ok(cases.map(|(case, _)| case.clone()).collect())
    }

    /// Returns whether a word of an acceptance test is the name of cases: `EX-02` is, `post-context` is not.
    fn is_meant(&self, name: &Name) -> bool {
        let first = |id: &str| id.split('-').next().unwrap_or_default().to_owned();
        let is_known = |id: &str| self.0.iter().any(|case| first(&case.id) == first(id));
        match name {
            Name::File(file) => file != WITHOUT_CASES,
            Name::Id(id) => is_known(id),
            Name::Between(low, high) => is_known(low) && is_known(high),
        }
    }

    /// Returns where the cases with a name are.
    fn positions(&self, name: &Name) -> Vec<usize> {
        let of = |name: &dyn Fn(&Ran) -> bool| -> Vec<usize> {
            (0..self.0.len()).filter(|index| name(&self.0[*index])).collect()
        };
        match name {
            Name::File(file) => of(&|case| matches(file, &case.file)),
            Name::Id(id) => of(&|case| is_named(id, &case.id)),
            Name::Between(low, high) => {
                let ends = [low, high].map(|end| of(&|case| is_named(end, &case.id)));
                if ends.iter().any(Vec::is_empty) {
                    return Vec::new();
                }
                // The file may have them in the other order.
                let all = ends.concat();
                let first = all.iter().min().copied().unwrap_or_default();
                (first..=all.iter().max().copied().unwrap_or_default()).collect()
            }
        }
    }
}

/// How an acceptance test names cases.
#[derive(Debug, PartialEq)]
enum Name {
    /// `content-hash.json`, or `selectors-golden-*.json`: all cases of the files.
    File(String),
    /// `LC-8.1`, or `INS-*-SEALED`, where the star matches any text.
    Id(String),
    /// `SW-PRE … SW-NTH3`: all cases from the first to the last one, in the order of their file.
    Between(String, String),
}

/// The file of the corpus that has schemas instead of cases; tests of the runner apply them.
const WITHOUT_CASES: &str = "schemas.json";

/// Names that the specification shortened: `E3-R id case`.
const SHORTENED: [(&str, &str); 1] = [("E3-R", "E3-R-17")];

/// Returns whether a text fits a pattern, in which a star matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => text == pattern,
        Some((start, end)) => {
            text.len() >= pattern.len() - 1 && text.starts_with(start) && text.ends_with(end)
        }
    }
}

/// Returns whether a case has a name. A case in several editions has one id for each (`EX-02-E1`), and a case with several states one for each
/// (`RANGE-5.3-1`).
fn is_named(name: &str, id: &str) -> bool {
    let name = SHORTENED.iter().find(|(short, _)| *short == name).map_or(name, |(_, long)| long);
    if name.contains('*') {
        return matches(name, id);
    }
    let Some(rest) = id.strip_prefix(name) else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    matches!(rest, "" | "-E1" | "-E2" | "-E3") || rest.strip_prefix('-').is_some_and(is_number)
}

/// Finds names in prose: `TTL-8.1-0, LC-8.1.`, `SNAP-1…4`, `CD-1…CD-3`, `SW-PRE … SW-NTH3`, `ERR-02/03`, `SW-TIME-E2/E3`, `SW-PRE/CORE/POST`.
fn names(prose: &str) -> Vec<Name> {
    let words = prose.split(|character: char| {
        character.is_whitespace() || [',', ';', '(', ')', '`'].contains(&character)
    });
    let words = words.map(|word| word.trim_end_matches(['.', ':'])).filter(|it| !it.is_empty());
    let words: Vec<&str> = words.collect();
    let mut names = Vec::new();
    let mut rest = words.as_slice();
    while let [word, after @ ..] = rest {
        rest = after;
        if let ["…", last, after @ ..] = rest
            && word.contains('-')
        {
            names.push(Name::Between((*word).to_owned(), (*last).to_owned()));
            rest = after;
        } else if word.ends_with(".json") {
            names.push(Name::File((*word).to_owned()));
        } else if let Some((first, last)) = word.split_once('…') {
            names.extend(span(first, last));
        } else if word.contains('-') {
            let mut parts = word.split('/');
            let first = parts.next().unwrap_or_default();
            names.push(Name::Id(first.to_owned()));
            names.extend(parts.map(|part| Name::Id(like(first, part))));
        }
    }
    names
}

/// Returns the name that is shortened to what differs from the first one: a number, or the last word.
fn like(first: &str, part: &str) -> String {
    if part.contains('-') {
        return part.to_owned();
    }
    let before = match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => without_digits(first),
        false => first.rfind('-').map_or("", |dash| &first[..=dash]),
    };
    format!("{before}{part}")
}

fn without_digits(id: &str) -> &str {
    id.trim_end_matches(|character: char| character.is_ascii_digit())
}

/// Expands `SNAP-1` and `4` to four ids, `ERR-35` and `37` to three, `CD-1` and `CD-3` to three.
fn span(first: &str, last: &str) -> Vec<Name> {
    let prefix = without_digits(first);
    let digits = &first[prefix.len()..];
    let last = last.strip_prefix(prefix).unwrap_or(last);
    let (Ok(low), Ok(high)) = (digits.parse::<u32>(), last.parse::<u32>()) else {
        return Vec::new();
    };
    let width = digits.len();
    (low..=high).map(|number| Name::Id(format!("{prefix}{number:0width$}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::{Cases, Name, Ran, Row, names};

    #[test]
    fn names_are_found_in_prose() {
        let ids = |prose: &str| -> Vec<String> {
            names(prose)
                .into_iter()
                .map(|name| match name {
                    Name::File(text) | Name::Id(text) => text,
                    Name::Between(first, last) => format!("{first} … {last}"),
                })
                .collect()
        };
        assert_eq!(ids("TTL-8.1-0, LC-8.1."), ["TTL-8.1-0", "LC-8.1"]);
        assert_eq!(ids("SNAP-1…3."), ["SNAP-1", "SNAP-2", "SNAP-3"]);
        assert_eq!(ids("ERR-09…10"), ["ERR-09", "ERR-10"]);
        assert_eq!(ids("HASH-TEST1/2; move test."), ["HASH-TEST1", "HASH-TEST2"]);
        assert_eq!(ids("see canonical-order.json, INS-*"), ["canonical-order.json", "INS-*"]);
        assert_eq!(ids("EX-56/57/63"), ["EX-56", "EX-57", "EX-63"]);
        assert_eq!(ids("SW-TIME-E2/E3."), ["SW-TIME-E2", "SW-TIME-E3"]);
        assert_eq!(ids("SW-PRE/CORE/POST"), ["SW-PRE", "SW-CORE", "SW-POST"]);
        assert_eq!(ids("RANGE-MAXSNAP/NOLIM"), ["RANGE-MAXSNAP", "RANGE-NOLIM"]);
        assert_eq!(ids("CD-1…CD-3."), ["CD-1", "CD-2", "CD-3"]);
        assert_eq!(ids("RANGE-5.3-*: five"), ["RANGE-5.3-*"]);
        assert_eq!(ids("SW-PRE … SW-NTH3."), ["SW-PRE … SW-NTH3"]);
    }

    fn cases(ids: &[&str]) -> Cases {
        let ran = |id: &&str| Ran {
            id: (*id).to_owned(),
            file: "file.json".to_owned(),
            covers: Vec::new(),
            failed: false,
            waits: false,
        };
        Cases(ids.iter().map(ran).collect())
    }

    fn row(acceptance: &str) -> Row {
        let [id, area, strength, requirement, places] =
            ["X-1", "X", "MUST", "", ""].map(String::from);
        Row { id, area, strength, requirement, places, acceptance: acceptance.to_owned() }
    }

    #[test]
    fn a_name_without_a_case_is_an_error_and_a_word_with_a_hyphen_is_not() {
        let cases = cases(&["EX-02-E1", "EX-02-E2", "EX-03", "SW-PRE-E1", "SW-CORE-E1"]);
        let found = |acceptance: &str| -> Result<Vec<String>, String> {
            Ok(cases.of(&row(acceptance))?.into_iter().map(|case| case.id).collect())
        };
        assert_eq!(
            found("EX-02/03"),
            Ok(["EX-02-E1", "EX-02-E2", "EX-03"].map(String::from).into())
        );
        assert_eq!(found("EX-03 … SW-PRE"), Ok(["EX-03", "SW-PRE-E1"].map(String::from).into()));
        assert_eq!(found("SW-PRE … EX-03"), found("EX-03 … SW-PRE"));
        assert_eq!(found("schemas.json"), Ok(Vec::new()));
        assert_eq!(found("post-context stays"), Ok(Vec::new()));
        for wrong in ["EX-04", "EX-02…04", "SW-PRE/POST", "EX-9*", "other.json", "SW-PRE … SW-X"]
        {
            assert!(found(wrong).is_err(), "{wrong}");
        }
    }
}
