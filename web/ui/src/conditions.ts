// Conditions of the ledger: as words for people, as EXPR for counting, and how a
// question reads without one.

import { list, span, words } from './figures.ts'
import type { Constraint, Op, Scalar } from './wire.ts'

type Value = Scalar | [string, string]

/** What fields are called, in the order of their schemas. */
export type Labels = ReadonlyMap<string, string>

export const label = (labels: Labels, field: string): string => labels.get(field) ?? words(field)

function shown(v: Value): string {
  if (Array.isArray(v)) return span(v[0], v[1])
  if (v === null) return 'not recorded'
  return typeof v === 'boolean' ? (v ? 'yes' : 'no') : String(v)
}

/** Sorts names as the schema has them; what it does not know goes last. */
export function inOrder(labels: Labels, names: string[]): string[] {
  const place = new Map([...labels.keys()].map((name, i) => [name, i]))
  return [...names].sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || (a < b ? -1 : 1))
}

/** The part of a condition after its field, in words. */
export function predicate(op: Op, values: Value[]): string {
  const all = values.map(shown)
  switch (op) {
    case 'eq':
      return `is ${all.join(', ')}`
    case 'in':
      return `is ${list(all, 'or')}`
    case 'not_in':
      return `is known and not ${list(all, 'or')}`
    case 'gte':
      return `is at least ${all[0]}`
    case 'lte':
      return `is at most ${all[0]}`
    case 'between':
      return typeof values[0] === 'string' ? `is in ${span(String(values[0]), String(values[1]))}` : `is between ${all[0]} and ${all[1]}`
    case 'contains':
      return `contains ${list(all, 'or')}`
    case 'not_contains':
      return `is known and does not contain ${list(all, 'or')}`
    case 'exists':
      return 'is recorded'
    case 'mentions':
      return `mentions ${list(all.map((v) => `“${v}”`), 'or')}`
    case 'not_mentions':
      return `does not mention ${list(all.map((v) => `“${v}”`), 'or')}`
    default:
      return `${words(op)} ${all.join(', ')}`
  }
}

const quoted = (v: Value): string => `"${String(v).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

const either = (parts: string[]): string => (parts.length === 1 ? parts[0]! : `(${parts.join(' or ')})`)

const several = (values: Value[]): string => `(${values.map(quoted).join(', ')})`

/** One condition as EXPR (docs of package filter); undefined if its operator has no form there. */
export function expression(c: Constraint): string | undefined {
  if (c.expr) return c.expr
  const f = c.field
  const pair = (v: Value) => (Array.isArray(v) ? `${f} between ${quoted(v[0])} and ${quoted(v[1])}` : `${f} = ${quoted(v)}`)
  const [first, second] = c.values
  switch (c.op) {
    case 'eq':
      return first === undefined ? undefined : pair(first)
    case 'in':
      return c.values.some(Array.isArray) ? either(c.values.map(pair)) : `${f} in ${several(c.values)}`
    case 'not_in':
      return c.values.some(Array.isArray) ? `${f} exists and not ${either(c.values.map(pair))}` : `${f} not in ${several(c.values)}`
    case 'gte':
      return first === undefined ? undefined : `${f} >= ${quoted(first)}`
    case 'lte':
      return first === undefined ? undefined : `${f} <= ${quoted(first)}`
    case 'between':
      return first === undefined || second === undefined ? undefined : `${f} between ${quoted(first)} and ${quoted(second)}`
    case 'contains':
      return either(c.values.map((v) => `${f} contains ${quoted(v)}`))
    case 'not_contains':
      return `${f} exists and not ${either(c.values.map((v) => `${f} contains ${quoted(v)}`))}`
    case 'exists':
      return `${f} exists`
    default:
      return undefined
  }
}

/** All of the conditions as EXPR; "" for none, undefined if one cannot be written. */
export function conjunction(constraints: Constraint[]): string | undefined {
  const parts = constraints.map(expression)
  return parts.includes(undefined) ? undefined : parts.join(' and ')
}

const joints = new Set('in at near of from by on with during since within around over for the a an and or between'.split(' '))

/**
 * The question without the words of some conditions, and without the prepositions that
 * are left dangling. The conditions are read from the question, so that changing it, in
 * sight, is the one sound way to drop one: whatever the engine then reads is shown again.
 */
export function without(question: string, texts: string[]): string {
  let out = question
  for (const text of texts) {
    const at = position(out, text)
    if (at < 0) continue
    const before = out.slice(0, at).trimEnd()
    const after = out.slice(at + text.length)
    out = `${trimJoints(before)} ${after.trimStart()}`
  }
  return out.replace(/\s+([?.,;:!])/g, '$1').replace(/\s+/g, ' ').trim()
}

/** Where text stands as whole words; -1 if nowhere. */
function position(question: string, text: string): number {
  if (text === '') return -1
  for (let at = question.indexOf(text); at >= 0; at = question.indexOf(text, at + 1)) {
    const letter = /[\p{L}\p{N}]/u
    if (!letter.test(question.charAt(at - 1)) && !letter.test(question.charAt(at + text.length))) return at
  }
  return -1
}

function trimJoints(text: string): string {
  let out = text
  for (;;) {
    const last = /\S+$/.exec(out)?.[0] ?? ''
    if (!joints.has(last.toLowerCase())) return out.replace(/,$/, '')
    out = out.slice(0, -last.length).trimEnd()
  }
}
