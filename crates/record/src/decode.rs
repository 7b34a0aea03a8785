//! Decodes compressed bodies for the record. What is passed on stays as it is.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Decodes a body piece by piece.
pub(crate) enum Decoder {
    Plain,
    Gzip(MultiGzDecoder<Vec<u8>>),
    /// `deflate` before its first two bytes, which say whether it has a head.
    Unknown(Vec<u8>),
    Deflate(ZlibDecoder<Vec<u8>>),
    /// Without a head, as some servers send it.
    Raw(DeflateDecoder<Vec<u8>>),
    Zstd(zstd::stream::write::Decoder<'static, Vec<u8>>),
    Brotli(Box<DecompressorWriter<Vec<u8>>>),
}

/// The size of the buffer of a decoder that needs one.
const BUFFER: usize = 16 << 10;

impl Decoder {
    /// Returns a decoder for an encoding, as `content-encoding` names it.
    ///
    /// # Errors
    ///
    /// If the encoding is unknown, or several are combined.
    pub(crate) fn new(encoding: Option<&str>) -> io::Result<Decoder> {
        Ok(match encoding {
            None => Decoder::Plain,
            Some("gzip" | "x-gzip") => Decoder::Gzip(MultiGzDecoder::new(Vec::new())),
            Some("deflate") => Decoder::Unknown(Vec::new()),
            Some("zstd") => Decoder::Zstd(zstd::stream::write::Decoder::new(Vec::new())?),
            Some("br") => Decoder::Brotli(Box::new(DecompressorWriter::new(Vec::new(), BUFFER))),
            Some(other) => {
                let message = format!("unknown encoding `{other}`");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
        })
    }

    /// Takes bytes as they arrived, and returns what they decode to.
    ///
    /// # Errors
    ///
    /// If they are not of this encoding.
    pub(crate) fn decode(&mut self, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        fn through<W: Write>(
            decoder: &mut W,
            bytes: &[u8],
            out: impl FnOnce(&mut W) -> &mut Vec<u8>,
        ) -> io::Result<Vec<u8>> {
            decoder.write_all(bytes)?;
            decoder.flush()?;
            Ok(std::mem::take(out(decoder)))
        }
        if let Decoder::Unknown(begin) = self {
            begin.extend(bytes);
            let [first, second, ..] = begin[..] else { return Ok(Vec::new()) };
            let bytes = std::mem::take(begin);
            *self = match has_head(first, second) {
                true => Decoder::Deflate(ZlibDecoder::new(Vec::new())),
                false => Decoder::Raw(DeflateDecoder::new(Vec::new())),
            };
            return self.decode(bytes);
        }
        match self {
            Decoder::Plain | Decoder::Unknown(_) => Ok(bytes),
            Decoder::Gzip(decoder) => through(decoder, &bytes, MultiGzDecoder::get_mut),
            Decoder::Deflate(decoder) => through(decoder, &bytes, ZlibDecoder::get_mut),
            Decoder::Raw(decoder) => through(decoder, &bytes, DeflateDecoder::get_mut),
            Decoder::Zstd(decoder) => through(decoder, &bytes, |it| it.get_mut()),
            Decoder::Brotli(decoder) => through(&mut **decoder, &bytes, |it| it.get_mut()),
        }
    }
}

/// Returns whether the first bytes of `deflate` are the head of RFC 1950: the method, and a check of both.
fn has_head(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

/// Decodes a whole body.
///
/// # Errors
///
/// If the encoding is unknown, or the body is not of it.
pub(crate) fn decoded(encoding: Option<&str>, bytes: &[u8]) -> io::Result<Vec<u8>> {
    Decoder::new(encoding)?.decode(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_decoded_as_they_arrive() {
        let text = b"data: {\"a\":1}\n\n".repeat(200);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&text).expect("it is in memory");
        let gzip = gzip.finish().expect("it is in memory");
        let zstd = zstd::encode_all(&text[..], 1).expect("it is in memory");
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(&text).expect("it is in memory");
        let zlib = zlib.finish().expect("it is in memory");
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        raw.write_all(&text).expect("it is in memory");
        let raw = raw.finish().expect("it is in memory");
        let all = [
            (Some("gzip"), gzip),
            (Some("deflate"), zlib),
            (Some("deflate"), raw),
            (Some("zstd"), zstd),
            (None, text.clone()),
        ];
        for (encoding, packed) in all {
            let mut decoder = Decoder::new(encoding).expect("it is known");
            let mut out = Vec::new();
            for piece in packed.chunks(7) {
                out.extend(decoder.decode(piece.to_vec()).expect("it is of this encoding"));
            }
            assert_eq!(out, text, "{encoding:?}");
            assert_eq!(decoded(encoding, &packed).expect("it is of this encoding"), text);
        }
        assert!(Decoder::new(Some("rot13")).is_err());
        assert!(decoded(Some("gzip"), b"not gzip at all").is_err());
    }
}
