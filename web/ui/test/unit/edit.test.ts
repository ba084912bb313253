import assert from 'node:assert/strict'
import { test } from 'node:test'

import { canEdit, editable, edited } from '../../src/edit.ts'
import type { Constraint, Op } from '../../src/wire.ts'

function constraint(op: Op, values: Constraint['values']): Constraint {
  return { field: 'f', op, values, text: '', origin: 'rule', collections: ['incidents'], alone: 0, unknown: 0, unknown_within: 0 }
}

test('what is shown to be edited reads back as it was', () => {
  for (const [op, values] of [
    ['eq', ['AK']],
    ['in', ['CESSNA', 'PIPER']],
    ['between', ['2012-01-01', '2012-12-31']],
    ['between', ['2', '4']],
    ['gte', ['2010-01-01']],
    ['in', [['2010-01-01', '2010-12-31'], ['2012-01-01', '2012-12-31']]],
    ['contains', ['172']],
  ] as [Op, Constraint['values']][]) {
    const c = constraint(op, values)
    assert.deepEqual(edited(c, editable(c))?.values, values, op)
  }
})

test('other values', () => {
  const cases: [Op, Constraint['values'], string, Op | undefined, Constraint['values']?][] = [
    ['eq', ['AK'], 'HI', 'eq', ['HI']],
    ['eq', ['AK'], 'AK or HI', 'in', ['AK', 'HI']],
    ['eq', ['AK'], ' ', undefined],
    ['between', ['2012-01-01', '2012-12-31'], '2013', 'between', ['2013-01-01', '2013-12-31']],
    ['between', ['2012-01-01', '2012-12-31'], '2012-02', 'between', ['2012-02-01', '2012-02-29']],
    ['between', ['2012-01-01', '2012-12-31'], '2010 to 2011-06', 'between', ['2010-01-01', '2011-06-30']],
    ['between', ['2012-01-01', '2012-12-31'], '2013 to 2012', undefined],
    ['between', ['2012-01-01', '2012-12-31'], 'soon', undefined],
    ['between', [2, 4], '3 to 5', 'between', ['3', '5']],
    ['between', [2, 4], '9 to 10', 'between', ['9', '10']],
    ['between', [2, 4], '3', undefined],
    ['gte', [3], '5', 'gte', ['5']],
    ['gte', [3], 'five', undefined],
    ['lte', ['2010-12-31'], '2011', 'lte', ['2011-12-31']],
    ['gte', ['2010-01-01'], '2011-02-30', undefined],
  ]
  for (const [op, values, text, wantOp, want] of cases) {
    const got = edited(constraint(op, values), text)
    assert.equal(got?.op, wantOp, `${op} ${text}`)
    assert.deepEqual(got?.values, want, `${op} ${text}`)
  }
})

test('what was counted in another way is not edited', () => {
  assert.equal(edited({ ...constraint('eq', ['AK']), expr: 'f = "AK" or f = "HI"' }, 'HI')?.expr, undefined)
  assert.ok(canEdit(constraint('eq', ['AK'])))
  assert.ok(!canEdit(constraint('mentions', ['ice'])))
  assert.ok(!canEdit({ ...constraint('eq', ['AK']), origin: 'user' }))
})
