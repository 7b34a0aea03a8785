//! Builds the vocabulary files from `tiktoken-rs`, rank by rank (see `data/README.md`).

use tiktoken_rs::CoreBPE;

type Failure = Box<dyn std::error::Error>;

/// Returns the name and the bytes of every vocabulary file. `r50k_base` needs no file: it is the
/// beginning of `p50k_base`.
pub(crate) fn all() -> Result<[(&'static str, Vec<u8>); 3], Failure> {
    let p50k = tokens(&tiktoken_rs::p50k_base()?, 50_281);
    let r50k = tokens(&tiktoken_rs::r50k_base()?, 50_256);
    if p50k.get(..r50k.len()) != Some(&r50k[..]) {
        return Err("r50k_base is not the beginning of p50k_base".into());
    }
    Ok([
        ("o200k_base.bin", pack(&tokens(&tiktoken_rs::o200k_base()?, 199_998))?),
        ("cl100k_base.bin", pack(&tokens(&tiktoken_rs::cl100k_base()?, 100_256))?),
        ("p50k_base.bin", pack(&p50k)?),
    ])
}

/// Returns the token of every rank below `count`; empty for ranks without an ordinary token.
fn tokens(encoding: &CoreBPE, count: u32) -> Vec<Vec<u8>> {
    let special = encoding.special_tokens();
    (0..count)
        .map(|rank| encoding.decode_bytes(&[rank]).unwrap_or_default())
        .map(|token| match std::str::from_utf8(&token) {
            Ok(text) if special.contains(text) => Vec::new(),
            _ => token,
        })
        .collect()
}

fn pack(tokens: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
    let mut out = u32::try_from(tokens.len())?.to_le_bytes().to_vec();
    for token in tokens {
        out.push(u8::try_from(token.len())?);
    }
    tokens.iter().for_each(|token| out.extend_from_slice(token));
    Ok(out)
}
