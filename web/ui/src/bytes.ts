// Quotes index a document's text by UTF-8 byte; strings here are UTF-16. The two part
// ways at the first é.

function width(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint < 0x10000 ? 3 : 4
}

/**
 * Turns byte offsets into text, in rising order, into string indices. An offset inside
 * a character is moved to its start, one beyond the end to the end.
 */
export function indices(text: string, offsets: number[]): number[] {
  const out: number[] = []
  let byte = 0
  let i = 0
  for (const offset of offsets) {
    while (i < text.length) {
      const point = text.codePointAt(i)!
      const next = byte + width(point)
      if (next > offset) break
      byte = next
      i += point > 0xffff ? 2 : 1
    }
    out.push(i)
  }
  return out
}
