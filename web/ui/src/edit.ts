// A condition with another value: how its values are written to be edited, and read back.

import type { Constraint, Scalar } from './wire.ts'

type Value = Scalar | [string, string]

const dated = (v: Value | undefined): boolean => (Array.isArray(v) ? dated(v[0]) : /^\d{4}-\d\d-\d\d$/.test(String(v)))

/** The values as one line of text; a span is "2012-01-01 to 2012-12-31". */
export function editable(c: Constraint): string {
  const one = (v: Value): string => (Array.isArray(v) ? `${v[0]} to ${v[1]}` : v === null ? '' : String(v))
  return c.values.map(one).join(c.op === 'between' ? ' to ' : ', ')
}

/** What can be edited: conditions whose form can be counted again from their values. */
export const canEdit = (c: Constraint): boolean =>
  c.origin !== 'user' && ['eq', 'in', 'not_in', 'gte', 'lte', 'between', 'contains', 'not_contains'].includes(c.op)

/** The condition with the values of a text; undefined where the text holds none of its kind. */
export function edited(c: Constraint, text: string): Constraint | undefined {
  const { expr: _, ...rest } = c
  const days = dated(c.values[0])
  if (c.op === 'between') {
    const pair = range(text, days)
    return pair && { ...rest, values: pair }
  }
  const parts = text.split(/,|\bor\b/).map((p) => p.trim()).filter((p) => p !== '')
  if (parts.length === 0) return undefined
  if (c.op === 'gte' || c.op === 'lte') {
    if (parts.length > 1) return undefined
    const value = days ? day(parts[0]!, c.op === 'lte') : number(parts[0]!, c.values[0])
    return value === undefined ? undefined : { ...rest, values: [value] }
  }
  const values: Value[] = []
  for (const part of parts) {
    const value = days ? range(part, true) : number(part, c.values[0])
    if (value === undefined) return undefined
    values.push(Array.isArray(value) ? (value as [string, string]) : value)
  }
  return { ...rest, op: c.op === 'eq' && values.length > 1 ? 'in' : c.op, values }
}

/** Two ends; of days, a year or a month alone is all of it. */
function range(text: string, days: boolean): [string, string] | undefined {
  const [from, to, more] = text.split(/\s+to\s+|\s*(?:–|\.\.)\s*/).map((p) => p.trim())
  if (!from || more !== undefined || (to === undefined && !days)) return undefined
  const lo = days ? day(from, false) : number(from, 0)
  const hi = days ? day(to ?? from, true) : number(to!, 0)
  if (lo === undefined || hi === undefined) return undefined
  const [a, b] = [String(lo), String(hi)]
  return (days ? a <= b : Number(a) <= Number(b)) ? [a, b] : undefined
}

/** A day; the first or last of a year or month. */
function day(text: string, last: boolean): string | undefined {
  const [, year, month, date] = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?$/.exec(text) ?? []
  if (!year) return undefined
  const m = Number(month ?? (last ? 12 : 1))
  const end = new Date(Date.UTC(Number(year), m, 0)).getUTCDate()
  const d = Number(date ?? (last ? end : 1))
  if (m < 1 || m > 12 || d < 1 || d > end) return undefined
  return `${year}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`
}

/** A value of the kind of the one before it: numbers stay numbers. */
function number(text: string, before: Value | undefined): string | undefined {
  return typeof before === 'number' && !/^-?\d+(\.\d+)?$/.test(text) ? undefined : text
}
