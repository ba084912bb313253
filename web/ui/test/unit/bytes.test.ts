import assert from 'node:assert/strict'
import { test } from 'node:test'

import { indices } from '../../src/bytes.ts'
import { sections } from '../../src/sections.ts'
import type { Document } from '../../src/wire.ts'

const sample = 'a é — 飞 👩‍✈️ “q” z'

test('every byte offset of a character start becomes its index', () => {
  const offsets: number[] = []
  const expected: number[] = []
  for (let i = 0; i < sample.length; ) {
    offsets.push(Buffer.byteLength(sample.slice(0, i)))
    expected.push(i)
    i += sample.codePointAt(i)! > 0xffff ? 2 : 1
  }
  offsets.push(Buffer.byteLength(sample))
  expected.push(sample.length)
  assert.deepEqual(indices(sample, offsets), expected)
})

test('offsets inside a character move to its start, those beyond the end to the end', () => {
  assert.deepEqual(indices('é!', [0, 1, 2, 3, 4, Infinity]), [0, 0, 1, 2, 2, 2])
  assert.deepEqual(indices('👩', [0, 1, 2, 3, 4]), [0, 0, 0, 0, 2])
  assert.deepEqual(indices('', [0, 5]), [0, 0])
})

function documentOf(...parts: [string, string][]): Document {
  const doc: Document = { id: 'x:1', collection: 'c', source: { name: 'x' }, title: '', text: '', parts: [], metadata: {} }
  for (const [locator, text] of parts) {
    if (doc.text) doc.text += '\n\n'
    const start = Buffer.byteLength(doc.text)
    doc.text += text
    doc.parts!.push({ kind: 'part', locator, start, end: Buffer.byteLength(doc.text) })
  }
  return doc
}

const joined = (doc: Document, start?: number, end?: number) => sections(doc, start, end).map((s) => [s.locator, s.pieces.map((p) => (p.marked ? `<${p.text}>` : p.text)).join('')])

test('sections hold all of the text and mark the quoted bytes', () => {
  const doc = documentOf(['Facts', '14 °C'], ['Cause', 'ice — yes'])
  assert.deepEqual(joined(doc), [['Facts', '14 °C'], ['Cause', 'ice — yes']])
  const start = Buffer.byteLength('14 °C\n\nice ')
  assert.deepEqual(joined(doc, start, start + 3), [['Facts', '14 °C'], ['Cause', 'ice <—> yes']])
})

test('a quote over two parts is marked in both, and odd ranges mark nothing', () => {
  const doc = documentOf(['A', 'one'], ['B', 'two'])
  assert.deepEqual(joined(doc, 1, 7).map(([, t]) => t), ['o<ne>', '<tw>o'])
  for (const [start, end] of [[5, 5], [7, 2], [100, 200]] as const) assert.ok(!sections(doc, start, end).some((s) => s.pieces.some((p) => p.marked && p.text)), `${start}-${end}`)
})

test('a heading is one, and goes where the place below it says the same', () => {
  const doc = documentOf(['', 'Probable cause'], ['Probable cause', 'ice'], ['', 'Remarks'], ['p. 2', 'none'])
  for (const i of [0, 2]) doc.parts![i]!.kind = 'heading'
  const shown = (start?: number, end?: number) => sections(doc, start, end).map((s) => `${s.heading ? '# ' : ''}${s.pieces.map((p) => p.text).join('')}`)
  assert.deepEqual(shown(), ['ice', '# Remarks', 'none'])
  assert.deepEqual(shown(0, 8), ['# Probable cause', 'ice', '# Remarks', 'none'])
})

test('nested and missing parts, and text outside all parts', () => {
  const doc = documentOf(['A', 'one two'])
  doc.parts!.push({ kind: 'inner', start: 4, end: 7 })
  doc.text += ' rest'
  assert.deepEqual(joined(doc), [['A', 'one two'], [undefined, ' rest']])
  assert.deepEqual(joined({ ...doc, parts: undefined }, 0, 3), [[undefined, '<one> two rest']])
  assert.deepEqual(joined({ ...doc, text: '', parts: [] }), [])
})
