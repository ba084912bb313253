import assert from 'node:assert/strict'
import { test } from 'node:test'

import { columns, drawable, step } from '../../src/chart.tsx'
import { cell } from '../../src/csv.ts'
import type { Computed } from '../../src/wire.ts'

const trend = {
  kind: 'group',
  columns: ['year', 'events', 'in the United States', 'abroad'],
  rows: [['2010', 30, 28, 2], ['2012', 20, 20, 0], ['2013', 10, 9, 1]],
  partial: ['2013'],
} as unknown as Computed

test('a year without a row has its place in a chart', () => {
  assert.deepEqual(columns(trend).map((c) => [c.key, c.value, c.inside, c.partial]), [
    ['2010', 30, 28, false],
    ['2011', 0, undefined, false],
    ['2012', 20, 20, false],
    ['2013', 10, 9, true],
  ])
  assert.ok(drawable(trend))
  assert.ok(!drawable({ ...trend, rows: [['CESSNA', 3], ['PIPER', 2], ['BEECH', 1]] }))
})

test('an axis has at least four steps, of 1, 2 or 5', () => {
  assert.deepEqual([3, 9, 21, 750, 2400].map(step), [1, 2, 5, 100, 500])
})

test('a cell is no formula, and quoted where it must be', () => {
  assert.deepEqual([cell('=1+1'), cell('a, "b"'), cell(3.5), cell(null), cell('N12')], ["'=1+1", '"a, ""b"""', '3.5', '', 'N12'])
})
