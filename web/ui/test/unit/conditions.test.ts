import assert from 'node:assert/strict'
import { test } from 'node:test'

import { conjunction, expression, inOrder, predicate, without } from '../../src/conditions.ts'
import { counted, duration, list, span } from '../../src/figures.ts'
import type { Constraint, Op } from '../../src/wire.ts'

function constraint(field: string, op: Op, values: Constraint['values'], text = ''): Constraint {
  return { field, op, values, text, origin: 'rule', collections: ['incidents'], alone: 0, unknown: 0, unknown_within: 0 }
}

test('conditions as EXPR', () => {
  for (const [op, values, want] of [
    ['eq', ['AK'], 'f = "AK"'],
    ['eq', [2], 'f = "2"'],
    ['in', ['CESSNA', 'PIPER'], 'f in ("CESSNA", "PIPER")'],
    ['in', [['2010-01-01', '2010-12-31'], ['2012-01-01', '2012-12-31']], '(f between "2010-01-01" and "2010-12-31" or f between "2012-01-01" and "2012-12-31")'],
    ['not_in', ['CESSNA'], 'f not in ("CESSNA")'],
    ['not_in', [['2010-01-01', '2010-12-31']], 'f exists and not f between "2010-01-01" and "2010-12-31"'],
    ['gte', [3], 'f >= "3"'],
    ['lte', ['2010-07-04'], 'f <= "2010-07-04"'],
    ['between', [1, 2], 'f between "1" and "2"'],
    ['contains', ['172', '182'], '(f contains "172" or f contains "182")'],
    ['not_contains', ['17"2\\'], 'f exists and not f contains "17\\"2\\\\"'],
    ['exists', [], 'f exists'],
    ['mentions', ['ice'], undefined],
    ['eq', [], undefined],
  ] as [Op, Constraint['values'], string | undefined][]) assert.equal(expression(constraint('f', op, values)), want, op)
  assert.equal(conjunction([constraint('a', 'eq', ['x']), constraint('b', 'exists', [])]), 'a = "x" and b exists')
  assert.equal(conjunction([constraint('a', 'mentions' as Op, ['x'])]), undefined)
  assert.equal(conjunction([]), '')
})

test('conditions in words', () => {
  for (const [op, values, want] of [
    ['eq', ['AK'], 'is AK'],
    ['in', ['A', 'B', 'C'], 'is A, B or C'],
    ['not_in', ['A', 'B'], 'is known and not A or B'],
    ['between', ['2008-01-01', '2012-12-31'], 'is in 2008 to 2012'],
    ['between', [2, 5], 'is between 2 and 5'],
    ['in', [['2010-06-01', '2010-06-30']], 'is 2010-06'],
    ['gte', [3], 'is at least 3'],
    ['exists', [], 'is recorded'],
    ['eq', [true], 'is yes'],
    ['some_new_op', ['x'], 'some new op x'],
  ] as [Op, Constraint['values'], string][]) assert.equal(predicate(op, values), want)
})

test('a question without some of its words', () => {
  const q = 'How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?'
  for (const [texts, want] of [
    [['Alaska'], 'How many fatal Cessna 172 accidents happened between 2008 and 2012, by year?'],
    [['fatal'], 'How many Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?'],
    [['between 2008 and 2012'], 'How many fatal Cessna 172 accidents happened in Alaska, by year?'],
    [['Cessna', '172'], 'How many fatal accidents happened in Alaska between 2008 and 2012, by year?'],
    [['Kansas'], q],
    [[''], q],
    [[], q],
  ] as [string[], string][]) assert.equal(without(q, texts), want)
  assert.equal(without('icing accidents in Alaska and fatal', ['Alaska']), 'icing accidents and fatal')
  assert.equal(without('Arkansas or Kansas?', ['Kansas']), 'Arkansas?', 'whole words only')
  assert.equal(without('accidents in the $1 state', ['$1 state']), 'accidents')
})

test('fields stand in the order of their schema', () => {
  const labels = new Map([['date', 'date'], ['state', 'state'], ['make', 'make']])
  assert.deepEqual(inOrder(labels, ['zulu', 'make', 'alpha', 'date']), ['date', 'make', 'alpha', 'zulu'])
  assert.deepEqual(inOrder(new Map(), ['b', 'a']), ['a', 'b'])
})

test('numbers and dates for people', () => {
  assert.equal(span('2012-02-01', '2012-02-29'), '2012-02')
  assert.equal(span('2011-02-01', '2011-02-28'), '2011-02')
  assert.equal(span('2011-02-01', '2011-02-27'), '2011-02-01 to 2011-02-27')
  assert.equal(span('2016-01-01', '2016-12-31'), '2016')
  assert.equal(span('2016-05-04', '2016-05-04'), '2016-05-04')
  assert.deepEqual([counted(1, 'events'), counted(2, 'events'), counted(1340, 'events'), counted(1, 'aircraft')], ['1 event', '2 events', '1,340 events', '1 aircraft'])
  assert.deepEqual([duration(0.2), duration(12.5), duration(21740)], ['under 1 ms', '13 ms', '21.7 s'])
  assert.deepEqual([list([]), list(['a']), list(['a', 'b', 'c'], 'or')], ['', 'a', 'a, b or c'])
})
