//! Generates texts in many scripts, the same on every run.

use contextree_testkit::Rng;

/// Words and sentences as people write them.
const WORDS: [&str; 40] = [
    "The quick brown fox",
    " jumps over the lazy dog.",
    "HTTPServer",
    "don't",
    "I'LL",
    "it'S",
    "we'Ve",
    "'ſ",
    "ain't'd",
    "Straße",
    "naïve café",
    "ÅNGSTRÖM",
    "Привет, мир!",
    "КИЇВ",
    "Γειά σου Κόσμε",
    "שלום עולם",
    "مرحبا بالعالم",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก",
    "안녕하세요 세계",
    "こんにちは世界",
    "カタカナABCabc",
    "你好,世界。今天天气很好",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢",
    "ǅungla",
    "e\u{301}E\u{301}",
    "\u{301}\u{301}A",
    "😀👩‍👩‍👧‍👦🇳🇴",
    "٣٤٥ ४५६ ½ Ⅷ",
    "1234567890",
    "3.14159e-10",
    "<|endoftext|>",
    "<|im_start|>system",
    "https://example.org/a/b?c=d&e=f#g",
    "fn main() { println!(\"{}\", 1 << 20); }",
    "    def f(self, x):\n        return x\n",
    "{\"key\": [1, 2.5, null, true]}",
    "SGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0",
    "------>>>///\n/// doc",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

const BLANKS: [&str; 16] = [
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\r\n",
    "\n\n",
    " \n",
    "\n ",
    "\t\n  \n",
    "\u{a0}",
    "\u{2003}",
    "\u{3000}",
    "\u{b}\u{c}",
    "\u{85}",
    "                ",
];

/// The first and last character of scripts and of other Unicode ranges.
const RANGES: [(u32, u32); 24] = [
    (0x00, 0x7f),
    (0x20, 0x7e),
    (0xa0, 0x24f),
    (0x250, 0x36f),
    (0x370, 0x3ff),
    (0x400, 0x52f),
    (0x530, 0x5ff),
    (0x600, 0x77f),
    (0x900, 0xdff),
    (0xe00, 0xfff),
    (0x1000, 0x10ff),
    (0x1200, 0x13ff),
    (0x1780, 0x18af),
    (0x1e00, 0x1fff),
    (0x2000, 0x2bff),
    (0x3000, 0x30ff),
    (0x4e00, 0x9fff),
    (0xac00, 0xd7a3),
    (0xd7b0, 0xd7ff),
    (0xe000, 0xfaff),
    (0xfb00, 0xffff),
    (0x10000, 0x11fff),
    (0x1f000, 0x1faff),
    (0x20000, 0x10ffff),
];

/// Returns `count` texts.
pub(crate) fn texts(count: usize) -> Vec<String> {
    let mut numbers = Rng::new(0x2545_f491_4f6c_dd1d);
    (0..count).map(|index| text(&mut numbers, index)).collect()
}

fn text(numbers: &mut Rng, index: usize) -> String {
    let mut text = String::new();
    for _ in 0..=numbers.index(1 + index % 24) {
        match numbers.index(10) {
            0..=3 => text.push_str(numbers.word(&WORDS)),
            4 | 5 => text.push_str(numbers.word(&BLANKS)),
            6 => {
                let longest = if numbers.index(9) == 0 { 300 } else { 12 };
                let run = 1 + numbers.index(longest);
                let character = character(numbers);
                text.extend(std::iter::repeat_n(character, run));
            }
            _ => {
                let (first, last) = RANGES[numbers.index(RANGES.len())];
                for _ in 0..=numbers.index(12) {
                    text.push(within(numbers, first, last));
                    if numbers.index(5) == 0 {
                        text.push(' ');
                    }
                }
            }
        }
    }
    text
}

fn character(numbers: &mut Rng) -> char {
    let (first, last) = RANGES[numbers.index(RANGES.len())];
    within(numbers, first, last)
}

fn within(numbers: &mut Rng, first: u32, last: u32) -> char {
    let code = first + numbers.index((last - first + 1) as usize) as u32;
    char::from_u32(code).unwrap_or('\u{fffd}')
}
