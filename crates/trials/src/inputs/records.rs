//! Stored records.

use std::sync::LazyLock;

use contextree::Context;
use contextree::canon::record::{
    BodyPlace, Fold, RecordError, StoredBody, build, read_bodies, read_effects, redact_bodies,
    retain_bodies,
};
use contextree::tree::{Body, Cycle};

use super::Choices;
use crate::script::step;

/// Sound records: effects and bodies of a base, of commits, and of a working state.
static SOUND: LazyLock<Vec<(Vec<u8>, Vec<u8>)>> = LazyLock::new(|| {
    let mut context = Context::new();
    context.record_all();
    let (_, base) = context.base_record();
    let mut records = vec![(base.effects, base.bodies)];
    for revision in 2..=17 {
        step(&mut context, revision).expect("the engine accepts the script");
        let taken = context.take_records();
        let commits = taken.commits.into_iter().map(|commit| commit.record);
        records.extend(commits.chain(taken.work).map(|record| (record.effects, record.bodies)));
    }
    records
});

/// Changes sound records, with checksums that fit, and reads them; or reads the bytes themselves as records.
pub fn records(data: &[u8]) {
    let mut choices = Choices::new(data);
    let sound = &*SOUND;
    let number = choices.index(sound.len() + 1);
    let (mut effects, mut bodies) = match sound.get(number) {
        Some(record) => record.clone(),
        None => (choices.rest().to_vec(), choices.rest().to_vec()),
    };
    while !choices.is_empty() {
        let frame = if choices.byte().is_multiple_of(3) { &mut bodies } else { &mut effects };
        if frame.len() <= 4 {
            break;
        }
        let at = choices.index(frame.len() - 4);
        match choices.byte() {
            254 => frame.truncate(at + 4),
            255 => frame.insert(at, choices.byte()),
            byte => frame[at] = byte,
        }
    }
    for frame in [&mut effects, &mut bodies] {
        seal(frame);
    }
    read(&effects, &bodies);
    if let Ok(commit) = read_effects(&effects)
        && let Ok(base) = read_effects(&sound[0].0)
        && let Ok(mut fold) = Fold::begin(base)
        && fold.commit(commit).is_ok()
    {
        fold.build(&mut |place| body(&mut stored(&bodies), place)).ok();
    }
}

/// Gives a record the checksum that it should have.
fn seal(frame: &mut [u8]) {
    if let Some((text, check)) = frame.split_last_chunk_mut::<4>() {
        *check = crc32fast::hash(text).to_le_bytes();
    }
}

fn stored(bodies: &[u8]) -> Vec<Option<StoredBody>> {
    read_bodies(bodies).unwrap_or_default().into_iter().map(Some).collect()
}

fn body(stored: &mut [Option<StoredBody>], place: BodyPlace) -> Result<Body, RecordError> {
    let index = match place {
        BodyPlace::Here(index) | BodyPlace::At { index, .. } => index,
        BodyPlace::None | BodyPlace::Kept => return Ok(Body::default()),
    };
    let found = stored.get_mut(index as usize).and_then(Option::take);
    let missing = || RecordError { message: "a body is missing".to_owned(), offset: 0 };
    found.ok_or_else(missing)?.into_body(None)
}

fn read(effects: &[u8], bodies: &[u8]) {
    retain_bodies(bodies, &|index| index % 2 == 0).ok();
    redact_bodies(bodies, "gone", &mut |_, _| None).ok();
    if let Ok(effects) = read_effects(effects)
        && let Ok(fold) = Fold::begin(effects)
    {
        let count = fold.bodies().count();
        let mut stored = stored(bodies);
        if let Ok(tree) = fold.build(&mut |place| body(&mut stored, place)) {
            assert!(tree.view().root().subtree().count() >= count, "a body has a node");
        }
    }
    if let Ok(effects) = read_effects(effects) {
        let mut stored = stored(bodies);
        build(effects.puts, Cycle(2), &mut |place| body(&mut stored, place)).ok();
    }
}
