//! Merges bytes into tokens: the pair with the lowest rank first, the leftmost of equal ones.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{SHORT, Vocabulary};

/// Marks a pair that cannot be merged.
const NONE: u32 = u32::MAX;
/// A longer piece is split at this length. Its count is then approximate, but positions fit into 32
/// bits.
const LONGEST: usize = 1 << 30;

/// Calls `token` with every token of a piece, in order. The piece itself is not a token.
pub(super) fn tokens<'a>(vocabulary: &Vocabulary, piece: &'a [u8], token: impl FnMut(&'a [u8])) {
    if piece.len() <= SHORT {
        in_place(vocabulary, piece, token);
    } else {
        with_queue(vocabulary, piece, token);
    }
}

/// Merges a short piece without allocating: scans all pairs after each merge.
fn in_place<'a>(vocabulary: &Vocabulary, piece: &'a [u8], mut token: impl FnMut(&'a [u8])) {
    // The start of each part, and the rank of the token that it forms with the next part.
    let mut parts = [(0_u8, NONE); SHORT + 1];
    let mut count = piece.len();
    let rank = |from: usize, to: usize| vocabulary.rank(&piece[from..to]).unwrap_or(NONE);
    for (index, part) in parts.iter_mut().enumerate().take(count + 1) {
        let pair = if index + 2 <= piece.len() { rank(index, index + 2) } else { NONE };
        // Here, a piece has at most `SHORT` bytes.
        *part = (index as u8, pair);
    }
    loop {
        let mut best = (NONE, 0);
        for (index, (_, pair)) in parts[..count].iter().enumerate() {
            if *pair < best.0 {
                best = (*pair, index);
            }
        }
        let (lowest, at) = best;
        if lowest == NONE {
            break;
        }
        parts.copy_within(at + 2..=count, at + 1);
        count -= 1;
        let start = |index: usize| parts[index.min(count)].0 as usize;
        let pair = |index: usize| {
            if index + 2 <= count { rank(start(index), start(index + 2)) } else { NONE }
        };
        let (this, before) = (pair(at), at.checked_sub(1).map(|before| (before, pair(before))));
        parts[at].1 = this;
        if let Some((before, rank)) = before {
            parts[before].1 = rank;
        }
    }
    for window in parts[..=count].windows(2) {
        token(&piece[window[0].0 as usize..window[1].0 as usize]);
    }
}

/// Merges a long piece with a priority queue of pairs, so that each pair is merged at most once.
fn with_queue<'a>(vocabulary: &Vocabulary, piece: &'a [u8], mut token: impl FnMut(&'a [u8])) {
    for chunk in piece.chunks(LONGEST) {
        let mut at = 0;
        for next in joined(vocabulary, chunk) {
            token(&chunk[at..next]);
            at = next;
        }
    }
}

/// Returns the ends of the tokens of a piece.
fn joined(vocabulary: &Vocabulary, piece: &[u8]) -> impl Iterator<Item = usize> {
    let end = piece.len() as u32;
    let rank = |from: u32, to: u32| {
        let bytes = piece.get(from as usize..to as usize)?;
        vocabulary.rank(bytes)
    };
    // Indexed by the start of a part: the start of the next part, the start of the previous one,
    // and the rank of the token that it forms with the next one.
    let mut next: Vec<u32> = (1..=end).collect();
    let mut before: Vec<u32> = (0..end).map(|at| at.saturating_sub(1)).collect();
    let mut ranks: Vec<u32> = (0..end)
        .map(|at| if at + 2 <= end { rank(at, at + 2).unwrap_or(NONE) } else { NONE })
        .collect();
    // A rank and a position in one integer: the lowest rank first, then the leftmost.
    let entry = |rank: u32, at: u32| Reverse(u64::from(rank) << 32 | u64::from(at));
    let pairs = (0..end).zip(&ranks).filter(|(_, rank)| **rank != NONE);
    let mut queue: BinaryHeap<Reverse<u64>> = pairs.map(|(at, rank)| entry(*rank, at)).collect();
    while let Some(Reverse(first)) = queue.pop() {
        let (lowest, at) = ((first >> 32) as u32, first as u32);
        // Skip stale entries. A merge changes the rank at its position, and no longer pair has the
        // same rank.
        if ranks[at as usize] != lowest {
            continue;
        }
        let second = next[at as usize];
        let following = next[second as usize];
        next[at as usize] = following;
        ranks[second as usize] = NONE;
        let mut update = |part: u32, to: u32, ranks: &mut Vec<u32>| {
            let new = rank(part, to).unwrap_or(NONE);
            ranks[part as usize] = new;
            if new != NONE {
                queue.push(entry(new, part));
            }
        };
        if following < end {
            before[following as usize] = at;
            update(at, next[following as usize], &mut ranks);
        } else {
            ranks[at as usize] = NONE;
        }
        if at > 0 {
            update(before[at as usize], following, &mut ranks);
        }
    }
    let mut at = 0;
    std::iter::from_fn(move || {
        let end = *next.get(at)? as usize;
        at = end;
        Some(end)
    })
}
