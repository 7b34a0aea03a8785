//! Joining bytes to tokens, the pair with the lowest rank first, the leftmost of equals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{SHORT, Vocabulary};

/// No token: a pair that cannot be joined.
const NONE: u32 = u32::MAX;

/// Calls back with every token of a piece, in order. The piece is not a token itself.
pub(super) fn tokens<'a>(vocabulary: &Vocabulary, piece: &'a [u8], token: impl FnMut(&'a [u8])) {
    if piece.len() <= SHORT {
        in_place(vocabulary, piece, token);
    } else {
        with_queue(vocabulary, piece, token);
    }
}

/// For short pieces: looks at all pairs again after each that was joined. No allocation.
fn in_place<'a>(vocabulary: &Vocabulary, piece: &'a [u8], mut token: impl FnMut(&'a [u8])) {
    // Where each part begins, and the rank of the token that it would make with the part behind it.
    let mut parts = [(0_u8, NONE); SHORT + 1];
    let mut count = piece.len();
    let rank = |from: usize, to: usize| vocabulary.rank(&piece[from..to]).unwrap_or(NONE);
    for (index, part) in parts.iter_mut().enumerate().take(count + 1) {
        let pair = if index + 2 <= piece.len() { rank(index, index + 2) } else { NONE };
        // A piece of this function has at most `SHORT` bytes.
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

/// For long pieces: pairs wait in a queue, and each is joined at most once.
fn with_queue<'a>(vocabulary: &Vocabulary, piece: &'a [u8], mut token: impl FnMut(&'a [u8])) {
    let length = piece.len();
    // By where a part begins: where the next one does, and where the one before did. A part that was joined to the one before it has
    // the next one at 0, where none can follow.
    let mut next: Vec<usize> = (1..=length).collect();
    let mut before: Vec<usize> = (0..length).map(|at| at.saturating_sub(1)).collect();
    let mut queue = BinaryHeap::with_capacity(length);
    let pair = |from: usize, to: usize| {
        let rank = vocabulary.rank(piece.get(from..to)?)?;
        Some(Reverse((rank, from, to)))
    };
    queue.extend((0..length.saturating_sub(1)).filter_map(|at| pair(at, at + 2)));
    while let Some(Reverse((_, from, to))) = queue.pop() {
        // Is it still a pair? The part begins here, and the one behind it ends there.
        let second = next[from];
        if second == 0 || second >= length || next[second] != to {
            continue;
        }
        next[from] = to;
        next[second] = 0;
        if to < length {
            before[to] = from;
            queue.extend(pair(from, next[to]));
        }
        if from > 0 {
            queue.extend(pair(before[from], to));
        }
    }
    let mut at = 0;
    while at < length {
        token(&piece[at..next[at]]);
        at = next[at];
    }
}
