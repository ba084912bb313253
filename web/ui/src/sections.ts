// A document's text, cut where its parts are, with the quoted bytes marked.

import { indices } from './bytes.ts'
import type { Document } from './wire.ts'

export interface Piece {
  text: string
  marked: boolean
}

export interface Section {
  locator?: string | undefined
  heading: boolean // the text is a heading of what follows
  pieces: Piece[]
}

/** The text cut at its outermost parts, with the quoted bytes marked in each. */
export function sections(doc: Document, start?: number, end?: number): Section[] {
  const size = Infinity
  const cuts: { from: number; to: number; locator?: string | undefined; heading?: boolean }[] = []
  let at = 0
  for (const p of [...(doc.parts ?? [])].sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (p.start < at || p.end <= p.start) continue
    if (p.start > at) cuts.push({ from: at, to: p.start })
    const heading = p.kind === 'heading'
    cuts.push({ from: p.start, to: p.end, locator: heading ? undefined : p.locator || p.kind, heading })
    at = p.end
  }
  cuts.push({ from: at, to: size })
  const quoted: [number, number] = start !== undefined && end !== undefined && end > start ? [start, end] : [size, size]
  const offsets = [...new Set([...cuts.flatMap((c) => [c.from, c.to]), ...quoted])].sort((a, b) => a - b)
  const index = new Map(offsets.map((byte, i) => [byte, i]))
  const places = indices(doc.text, offsets)
  const cut = (from: number, to: number) => doc.text.slice(places[index.get(from)!], places[index.get(to)!])
  const all = cuts.flatMap(({ from, to, locator, heading = false }) => {
    const [a, b] = [clamp(quoted[0], from, to), clamp(quoted[1], from, to)]
    const pieces = [
      { text: cut(from, a).replace(/^\n+/, ''), marked: false },
      { text: cut(a, b), marked: true },
      { text: cut(b, to).replace(/\n+$/, ''), marked: false },
    ].filter((p) => p.text !== '')
    return pieces.some((p) => p.text.trim() !== '') ? [{ locator, heading, pieces }] : []
  })
  // A heading that the place below it repeats is said once, unless it is what is quoted.
  return all.filter((s, i) => !s.heading || s.pieces.some((p) => p.marked) || s.pieces.map((p) => p.text.trim()).join('') !== all[i + 1]?.locator)
}

const clamp = (n: number, low: number, high: number): number => Math.min(Math.max(n, low), high)
