//! Contents, and the trees of checkpoints, as they are stored: compressed where that saves something.

use contextree_canon::Hash;
use contextree_canon::record::SharedContent;

use crate::error::{Result, StoreError};
use crate::rows::ContentRow;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;

/// Below this, compressing saves little and costs a call.
const COMPRESSED_FROM: usize = 1024;

/// Zstandard's usual level: most of the gain, at the speed of a disk.
const LEVEL: i32 = 3;

/// Packs a content for the store.
pub(crate) fn pack(content: &SharedContent) -> ContentRow {
    ContentRow { hash: content.hash.0, data: pack_bytes(&content.bytes) }
}

/// Packs a record for the store.
pub(crate) fn pack_bytes(bytes: &[u8]) -> Vec<u8> {
    let mut data = vec![PLAIN];
    if bytes.len() >= COMPRESSED_FROM
        && let Ok(compressed) = zstd::bulk::compress(bytes, LEVEL)
        && compressed.len() + 9 < bytes.len() - bytes.len() / 8
    {
        data[0] = ZSTD;
        data.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        data.extend_from_slice(&compressed);
    } else {
        data.extend_from_slice(bytes);
    }
    data
}

/// Unpacks a content. The caller compares the result with its hash.
pub(crate) fn unpack(hash: Hash, data: &[u8]) -> Result<Vec<u8>> {
    unpack_bytes(data).map_err(|message| StoreError::Corrupt {
        record: format!("content {hash}"),
        message: message.to_owned(),
    })
}

/// Unpacks a record. What comes out has its own check sum.
pub(crate) fn unpack_bytes(data: &[u8]) -> std::result::Result<Vec<u8>, &'static str> {
    match data.split_first() {
        Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
        Some((&ZSTD, rest)) => {
            let (length, compressed) = rest.split_first_chunk::<8>().ok_or("it is cut off")?;
            let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
            // A length that was damaged must not reserve memory: the frame has it, too.
            let own = zstd::zstd_safe::get_frame_content_size(compressed).ok().flatten();
            if own != Some(length as u64) {
                return Err("its length is impossible");
            }
            let bytes = zstd::bulk::decompress(compressed, length)
                .map_err(|_| "it cannot be decompressed")?;
            match bytes.len() == length {
                true => Ok(bytes),
                false => Err("it has another length"),
            }
        }
        _ => Err("it is stored in an unknown form"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again_and_damage_is_an_error() {
        for text in ["short".to_owned(), "tell me more. ".repeat(1000), String::new()] {
            let hash = Hash::of(text.as_bytes());
            let row = pack(&SharedContent { hash, bytes: text.clone().into_bytes() });
            assert_eq!(unpack(hash, &row.data).unwrap(), text.as_bytes());
            assert!(row.data.len() <= text.len() + 1);
            for index in 0..row.data.len().min(40) {
                let mut damaged = row.data.clone();
                damaged[index] ^= 0x55;
                let found = unpack(hash, &damaged);
                assert!(found.is_err() || Hash::of(&found.unwrap()) != hash);
            }
        }
    }
}
