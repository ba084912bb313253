// A figure as CSV: the rules it was counted by as lines that begin with #, then its table
// or, without one, every document it counts.

import { listed } from './api.ts'
import type { Computed, Scalar } from './wire.ts'

/** A cell as CSV; text of a record is never a formula of a spreadsheet. */
export function cell(v: Scalar | undefined): string {
  if (v === null || v === undefined) return ''
  if (typeof v !== 'string') return String(v)
  const safe = /^[=+\-@\t\r]/.test(v) ? `'${v}` : v
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function rules(c: Computed): string[] {
  const m = c.method
  const out = [`figure: ${c.title}`, `filter: ${c.filter}`, `counted: ${m.unit}, ${m.scope}`, `period: ${m.period}`]
  if (m.coverage) out.push(`coverage: ${m.coverage}`)
  if (m.data_date) out.push(`data to: ${m.data_date}`)
  if (m.files && m.files.length > 0) out.push(`files: ${m.files.join(', ')}`)
  out.push(`total: ${c.total} ${c.unit_label}`)
  if (m.at_least) out.push('the total is a lower bound')
  out.push(...(m.unknown ?? []), ...(m.notes ?? []), ...(m.other_counts ?? []).map((o) => `other count, ${o.rule}: ${o.count} (${o.why})`))
  return out.map((line) => `# ${line.replaceAll('\n', ' ')}`)
}

const page = 1000

export async function csv(c: Computed): Promise<string> {
  const lines = rules(c)
  if (c.columns && c.rows && c.rows.length > 0) {
    lines.push(c.columns.map(cell).join(','), ...c.rows.map((row) => row.map(cell).join(',')))
    return `${lines.join('\n')}\n`
  }
  lines.push('id,date,title')
  for (let after = ''; ; ) {
    const { documents, next } = await listed(c.collection, c.filter, after, page)
    lines.push(...documents.map((d) => [d.native_id, d.date ?? '', d.title].map(cell).join(',')))
    if (!next) return `${lines.join('\n')}\n`
    after = next
  }
}

/** Hands a text to the reader as a file. */
export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
