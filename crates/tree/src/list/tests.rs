//! Tests the list against a plain vector, and that its shape depends on its entries alone.

use contextree_testkit::Rng;

use super::*;
use crate::store::hash;

struct Plain;

impl Entries for Plain {
    fn summary(&self, row: RowNumber) -> Summary {
        Summary { expires: row.0, marks: 1 << (row.0 % 7) }
    }
    fn boundary(&self, row: RowNumber) -> u32 {
        boundary(hash(&row.0.to_string()))
    }
}

/// Describes the shape: runs in brackets, levels from the highest down.
fn shape(children: &Children) -> String {
    fn describe(run: &Run, out: &mut String) {
        out.push('[');
        match &run.items {
            Items::Rows(rows) => {
                rows.iter().for_each(|entry| out.push_str(&format!("{} ", entry.row.0)));
            }
            Items::Runs(runs) => runs.iter().for_each(|child| describe(&child.run, out)),
        }
        out.push(']');
    }
    let mut out = String::new();
    match children {
        Children::Few { .. } => out.push_str(&format!("{:?}", children.iter().collect::<Vec<_>>())),
        Children::Some(run) => describe(run, &mut out),
        Children::Many(list) => {
            // Trailing empty levels at the top do not exist in either form.
            list.levels.iter().rev().for_each(|level| describe(level, &mut out));
        }
    }
    out
}

/// Caches digests where none are cached, as computing a digest does, and checks those that are.
fn check_beside(children: &Children) {
    fn digest(row: RowNumber) -> [u8; 32] {
        let mut digest = [7; 32];
        digest[..4].copy_from_slice(&row.0.to_le_bytes());
        digest
    }
    fn within(run: &Run) {
        match &run.items {
            Items::Rows(rows) => {
                let all: Vec<_> = rows.iter().map(|entry| digest(entry.row)).collect();
                let Some(fresh) = Beside::new(&all) else {
                    assert!(rows.len() > 32, "of so few rows digests can be kept");
                    assert!(run.beside.get().is_none());
                    return;
                };
                let beside = run.beside.get_or_init(|| fresh);
                let mut strangers = 0;
                for (at, entry) in rows.iter().enumerate() {
                    match beside.get(at) {
                        Some(known) => assert_eq!(*known, digest(entry.row)),
                        None => strangers += 1,
                    }
                }
                assert!(strangers <= 8, "most are known");
            }
            Items::Runs(runs) => {
                assert!(run.beside.get().is_none());
                runs.iter().for_each(|child| within(&child.run));
            }
        }
    }
    match children {
        Children::Few { .. } => {}
        Children::Some(run) => within(run),
        Children::Many(list) => list.levels.iter().for_each(|run| within(run)),
    }
}

fn check(children: &Children, expected: &[RowNumber]) {
    check_beside(children);
    assert_eq!(children.iter().collect::<Vec<_>>(), expected, "forwards");
    assert_eq!(
        children.rev().collect::<Vec<_>>(),
        expected.iter().rev().copied().collect::<Vec<_>>()
    );
    assert_eq!(children.len(), expected.len());
    assert_eq!(children.last(), expected.last().copied());
    let fresh = Children::from_rows(expected, &Plain);
    assert_eq!(shape(children), shape(&fresh), "the shape must not remember the edits");
    let (summary, exact) = (children.summary(&Plain), fresh.summary(&Plain));
    assert_eq!(summary.expires, exact.expires);
    assert_eq!(summary.marks & exact.marks, exact.marks, "no mark is ever missing");
    assert_eq!(summary.marks & Summary::EXACT, exact.marks & Summary::EXACT);
    for (index, row) in expected.iter().enumerate() {
        assert_eq!(children.get(index), Some(*row));
        assert_eq!(children.search(|other| other.cmp(row)), Ok(index));
        assert_eq!(children.search(|other| (other.0 * 2).cmp(&(row.0 * 2 + 1))), Err(index + 1));
    }
}

#[test]
fn random_edits_match_a_vector() {
    let mut numbers = Rng::new(42);
    let mut random = |below: usize| numbers.index(below.max(1));
    for round in 0..30 {
        let mut vector: Vec<RowNumber> = Vec::new();
        let mut children = Children::EMPTY;
        for _ in 0..300 + round * 40 {
            let row = RowNumber(random(1 << 16) as u32);
            match vector.binary_search(&row) {
                Ok(index) => {
                    vector.remove(index);
                    children.remove(index, &Plain);
                }
                Err(index) => {
                    vector.insert(index, row);
                    children.insert(index, row, &Plain);
                }
            }
            if !vector.is_empty() && random(3) == 0 {
                let index = random(vector.len());
                children.replace(index, vector[index], &Plain);
            }
            if random(9) == 0 {
                check_beside(&children);
            }
            if random(12) == 0 && !vector.is_empty() {
                let index = random(vector.len());
                vector.remove(index);
                children.remove(index, &Plain);
            }
        }
        check(&children, &vector);
    }
}

#[test]
fn appending_many_and_removing_from_the_front_matches_a_vector() {
    let mut children = Children::EMPTY;
    for row in 0..20_000 {
        children.insert(row as usize, RowNumber(row), &Plain);
    }
    check(&children, &(0..20_000).map(RowNumber).collect::<Vec<_>>());
    for _ in 0..19_990 {
        children.remove(0, &Plain);
    }
    check(&children, &(19_990..20_000).map(RowNumber).collect::<Vec<_>>());
}

#[test]
fn batches_of_edits_match_a_vector() {
    let mut numbers = Rng::new(7);
    let mut random = |below: usize| numbers.index(below.max(1));
    for round in 0..60 {
        let mut vector: Vec<RowNumber> = (0..2 + round * round).map(RowNumber).collect();
        let mut children = Children::from_rows(&vector, &Plain);
        while !vector.is_empty() {
            let before = children.clone();
            let kept = vector.clone();
            // Adjacent rows at the front, at the back or anywhere; or arbitrary rows.
            let share = [1, 2, 5, 40][random(4)];
            let (from, to) = match random(4) {
                0 => (0, random(30)),
                1 => (vector.len().saturating_sub(random(30)), vector.len()),
                _ => (random(vector.len()), vector.len()),
            };
            let mut edits = Vec::new();
            let last = to.min(vector.len());
            for (position, &row) in vector.iter().enumerate().take(last).skip(from) {
                if random(share) == 0 {
                    let after = (random(3) == 0).then_some(row);
                    edits.push(Edit { position, before: Some(row), after });
                }
            }
            for edit in edits.iter().rev().filter(|edit| edit.after.is_none()) {
                vector.remove(edit.position);
            }
            children.edit_all(&edits, &Plain);
            check(&children, &vector);
            check(&before, &kept);
            let common = kept.iter().zip(&vector).take_while(|(old, new)| old == new).count();
            assert_eq!(before.common(&children, RowNumber::NONE), common);
            assert_eq!(children.common(&before, RowNumber::NONE), common);
        }
    }
}
