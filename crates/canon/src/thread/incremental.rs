//! The thread of one snapshot after another, rendering only what changed.

use contextree_tree::{NodeKey, NodeRef, Region, RowNumber, Tree, TreeRef};

use super::whole::write_part;

/// Keeps the thread it rendered last, and the place of every child of a region in it.
///
/// For the next snapshot the unchanged beginning stays where it is, unchanged parts after it are copied, and only what is new is
/// rendered. A thread that merely grew costs what it grew by.
#[derive(Debug, Default)]
pub struct ThreadRenderer {
    last: Option<Tree>,
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    region: Region,
    key: NodeKey,
    version: RowNumber,
    start: usize,
    end: usize,
}

impl ThreadRenderer {
    /// Returns a renderer that has rendered nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the thread of a snapshot; the same bytes as [`thread`](super::thread()).
    pub fn render(&mut self, tree: &Tree) -> &[u8] {
        self.update(tree.view());
        self.last = Some(tree.clone());
        &self.bytes
    }

    fn update(&mut self, tree: TreeRef<'_>) {
        // Versions below this number mean the same in both trees.
        let common = self.last.as_ref().and_then(|last| last.view().common_versions(tree));
        let same = |part: &Part, region: Region, child: NodeRef<'_>| {
            let is_common = common.is_some_and(|common| part.version < common);
            part.version == child.version() && is_common && part.region == region
        };
        let mut children = Region::ALL
            .into_iter()
            .flat_map(|region| tree.region(region).children().map(move |child| (region, child)));
        let mut next = children.next();
        let mut kept = 0;
        while let (Some((region, child)), Some(part)) = (next, self.parts.get(kept)) {
            if !same(part, region, child) {
                break;
            }
            kept += 1;
            next = children.next();
        }
        let start =
            self.parts.get(kept).map_or(self.bytes.len().saturating_sub(1), |part| part.start);
        let old = self.bytes.get(start..).map(<[u8]>::to_vec).unwrap_or_default();
        let mut old_parts = self.parts.split_off(kept).into_iter().peekable();
        self.bytes.truncate(start);
        if self.bytes.is_empty() {
            self.bytes.push(b'[');
        }
        while let Some((region, child)) = next {
            // Whatever is not in the new tree any more, at this place, is passed over.
            while old_parts.next_if(|part| !tree.contains(part.key)).is_some() {}
            let from = self.bytes.len();
            match old_parts.next_if(|part| part.key == child.key_of()) {
                Some(part) if same(&part, region, child) => {
                    copy(&mut self.bytes, &old[part.start - start..part.end - start]);
                }
                _ => write_part(&mut self.bytes, child, region),
            }
            self.parts.push(Part {
                region,
                key: child.key_of(),
                version: child.version(),
                start: from,
                end: self.bytes.len(),
            });
            next = children.next();
        }
        self.bytes.push(b']');
    }
}

/// Appends a part. It begins with its comma; only the first part of a thread has none.
fn copy(bytes: &mut Vec<u8>, part: &[u8]) {
    let objects = part.strip_prefix(b",").unwrap_or(part);
    if !objects.is_empty() && bytes.last() == Some(&b'}') {
        bytes.push(b',');
    }
    bytes.extend_from_slice(objects);
}
