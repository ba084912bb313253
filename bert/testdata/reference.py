"""Writes what the tokenizer is measured against, from the reference implementation.

    pip install tokenizers==0.23.3
    python bert/testdata/reference.py VOCAB_TXT        # from the module root

Writes bert/normalization.txt (the behaviour of every code point) and the golden
files beside this script. VOCAB_TXT is the vocabulary of bert-base-uncased, which all
encoders of that family share; vocab.txt.gz keeps a copy for the tests.

Only a change of reference is a reason to run it again: a tokenizer that drifts with
the Unicode tables of its language's runtime would make stored vectors drift with it.
"""

import gzip
import hashlib
import json
import pathlib
import struct
import sys

import tokenizers
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

HERE = pathlib.Path(__file__).resolve().parent
UNCASED = normalizers.BertNormalizer()
CLEAN = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
SPLIT = pre_tokenizers.BertPreTokenizer()
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic, not by table


def reference(vocab_file, normalizer=UNCASED):
    vocab = {line.rstrip(): i for i, line in enumerate(open(vocab_file, encoding="utf-8"))}
    t = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer, t.pre_tokenizer = normalizer, SPLIT
    return t


def hangul(c):
    s = c - 0xAC00
    jamo = [0x1100 + s // 588, 0x1161 + s % 588 // 28]
    return "".join(map(chr, jamo + ([0x11A7 + s % 28] if s % 28 else [])))


def behaviour(c):
    """The class and the folded form of one code point, as (class, text)."""
    s = chr(c)
    if CLEAN.normalize_str(s) == "":
        return "drop", ""
    if CLEAN.normalize_str(s) == " " or s == " ":
        return "space", ""
    folded = UNCASED.normalize_str(s)
    if folded == f" {folded.strip()} " and len(folded) == 3:
        return "cjk", folded.strip()
    if len(SPLIT.pre_tokenize_str("a" + s + "a")) == 3:
        assert folded == s or len(SPLIT.pre_tokenize_str("a" + folded + "a")) == 3, hex(c)
        return "punct", folded
    return "", folded


def extend(rows, c, kind, what):
    """Adds c to the last row of its kind and text when it continues that row, else opens one."""
    row = rows.get((kind, what))
    if row and row[-1][1] == c - 1:
        row[-1][1] = c
    else:
        rows.setdefault((kind, what), []).append([c, c])


def write_normalization():
    rows = {}  # (kind, what a fold puts there) -> ranges of code points
    for c in CODE_POINTS:
        kind, folded = behaviour(c)
        if c in HANGUL:
            assert kind == "" and folded == hangul(c), hex(c)
            continue
        if kind in ("drop", "space"):
            extend(rows, c, kind, "")
            continue
        if folded == "":
            extend(rows, c, "strip", "")
            continue
        if kind:
            extend(rows, c, kind, "")
        if folded != chr(c):
            one = len(folded) == 1
            extend(rows, c, "fold", f"{ord(folded) - c:+d}" if one else " ".join(f"{ord(x):04X}" for x in folded))

    out = [
        "# What the uncased BERT normaliser and pre-tokenizer do with every code point,",
        f"# recorded from tokenizers {tokenizers.__version__} by testdata/reference.py. Code points not named are kept.",
        "#",
        "#   drop   removed before anything else           space  ends a word",
        "#   cjk    a word of its own, tested before folding",
        "#   punct  a word of its own, tested after folding",
        "#   strip  a mark that uncased models ignore",
        "#   fold   replaced (decomposed, marks removed, lower case): by an offset, or by code points;",
        "#          comes last, since a code point may be cjk or punct as well",
        "#",
        "# Hangul syllables (AC00..D7A3) decompose by the arithmetic of the Unicode Standard, section 3.12.",
    ]
    rows = [(lo, hi, *key) for key, ranges in rows.items() for lo, hi in ranges]
    for lo, hi, kind, what in sorted(rows, key=lambda row: (row[2] == "fold", row)):
        r = f"{lo:04X}" if lo == hi else f"{lo:04X}..{hi:04X}"
        out.append(f"{r} {kind} {what}".rstrip())
    (HERE.parent / "normalization.txt").write_text("\n".join(out) + "\n", encoding="ascii")


# --- golden files -------------------------------------------------------------------

MASK = (1 << 64) - 1


class Random:
    """splitmix64 (Steele, Lea, Flood 2014), so that the Go test draws the same strings."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return self.next() % n


ROWS = [r for r in range(0x1100) if not 0xD8 <= r < 0xE0 and (r < 0x324 or r == 0xE00 or r == 0xE01 or r % 64 == 0)]
PUNCTUATION = " .,;:!?-()[]{}'\"/\\@#$%^&*_+=<>|~`\t\n"


def random_string(rng, pieces):
    """One string: runs drawn from one 256-code-point row each, vocabulary pieces, punctuation, spaces."""
    out = []
    for _ in range(1 + rng.below(6)):
        kind = rng.below(4)
        if kind == 0:
            out.append(pieces[rng.below(len(pieces))])
        elif kind == 1:
            out.append(PUNCTUATION[rng.below(len(PUNCTUATION))])
        else:
            row = ROWS[rng.below(len(ROWS))] if kind == 2 else rng.below(0x30)
            out.extend(chr(row * 256 + rng.below(256)) for _ in range(1 + rng.below(8)))
        if rng.below(3) == 0:
            out.append(" ")
    return "".join(out)


def byte_offsets(text, spans):
    at = [0]
    for ch in text:
        at.append(at[-1] + len(ch.encode("utf-8")))
    return [(at[a], at[b]) for a, b in spans]


def hashes(t, strings, group):
    """The first 8 bytes of SHA-256 over the token ids of every group of strings, in hexadecimal."""
    out, h, n = [], hashlib.sha256(), 0
    for s in strings:
        ids = t.encode(s, add_special_tokens=False).ids
        h.update(struct.pack(f"<{len(ids) + 1}I", len(ids), *ids))
        n += 1
        if n == group:
            out.append(h.hexdigest()[:16])
            h, n = hashlib.sha256(), 0
    if n:
        out.append(h.hexdigest()[:16])
    return out


EXAMPLES = [
    "", " ", "hello world", "Hello, World!", "The quick brown fox can't jump over 1,234.5 lazy dogs.",
    "Crème Brûlée naïve façade", "cafe\u0301 au lait", "\u0301leading mark", "trailing mark e\u0301!", "İstanbul ŞİŞLİ",
    "Straße GROẞ", "ΑΣ ΟΔΟΣ", "ё й Ё Й", "한국어 텍스트", "日本語テキスト", "中文字符x混合y", "豈\U0002F800 compatibility",
    "हिन्दी भाषा", "ไทย", "العربية ﷺ", "עברית", "soft\u00adhyphen", "zero\u200bwidth\u200djoiner", "nbsp\u00a0between",
    "next\u0085line\u2028separator\u2029", "null\x00byte", "\ufeffbom", "replacement\ufffdcharacter", "private\ue000use",
    "ﬁnance ﬂow ½ ² ™", "emoji 😀👩‍👩‍👧", "x" * 100, "x" * 101 + " after", "supercalifragilisticexpialidocious",
    "[CLS] is text here [SEP] [MASK]", "N172SP, a Cessna 172S, § 91.103(b)", "tab\tand\r\nnewline", "a\u302e\u0323b",
    "Ǆ ǅ ǆ ŉ", "\u1c89 \ua7cb \U00010d50", "\U00011938", "ᾳ ᾼ ῼ", "$1 + 2 = 3^4 `code` <tag> a|b ~c", "a_b-c.d/e",
    "don't won’t “quoted” – dash — em… ", "𝓂𝒶𝓉𝒽 𝐛𝐨𝐥𝐝", "Ω Å K", "\u0344 \u0f73 \u0958", "unaffable unwanted running",
]


def main():
    vocab_file = sys.argv[1]
    t = reference(vocab_file)
    with gzip.GzipFile(HERE / "vocab.txt.gz", "wb", 9, mtime=0) as f:
        f.write(pathlib.Path(vocab_file).read_bytes())
    write_normalization()

    pieces = [p.strip() for p in open(vocab_file, encoding="utf-8")]
    rng = Random(1)
    strings = [random_string(rng, pieces) for _ in range(100_000)]
    cased = reference(vocab_file, normalizers.BertNormalizer(lowercase=False))
    golden = {
        "reference": f"tokenizers {tokenizers.__version__}",
        "code_points": hashes(t, (f"a{chr(c)}b" for c in CODE_POINTS), 4096),
        "cased_code_points": hashes(cased, (f"a{chr(c)}b" for c in CODE_POINTS), 4096),
        "strings": hashes(t, strings, 100),
    }
    with gzip.GzipFile(HERE / "tokens.golden.json.gz", "wb", 9, mtime=0) as f:
        f.write(json.dumps(golden).encode())

    with open(HERE / "tokens.golden.txt", "w", encoding="ascii") as f:
        f.write("# text as JSON, then id:start:end of its tokens (byte offsets), from " + golden["reference"] + "\n")
        for text in EXAMPLES + strings[:: len(strings) // 300]:
            e = t.encode(text, add_special_tokens=False)
            spans = byte_offsets(text, e.offsets)
            f.write(json.dumps(text) + "\n\t" + " ".join(f"{i}:{a}:{b}" for i, (a, b) in zip(e.ids, spans)) + "\n")


if __name__ == "__main__":
    main()
