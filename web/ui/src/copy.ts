// An answer as plain text, each statement with the document it stands in.

import { label, predicate, type Labels } from './conditions.ts'
import { counted, figure, words } from './figures.ts'
import type { Answer, Computed, Finding, Quote } from './wire.ts'

/** Numbers the documents of an answer in the order they are first cited. */
export function citations(answer: Answer): Map<string, number> {
  const numbers = new Map<string, number>()
  const see = (quotes: Quote[]) => {
    for (const q of quotes) if (!numbers.has(q.document_id)) numbers.set(q.document_id, numbers.size + 1)
  }
  for (const f of answer.findings) see(f.quotes)
  for (const f of answer.causal_chain ?? []) see(f.quotes)
  for (const r of answer.regulatory ?? []) see(r.quotes)
  for (const c of answer.conflicts ?? []) for (const s of c.sides) see(s.quotes)
  return numbers
}

export const statusWords: Record<string, string> = {
  answered: 'Answered',
  partial: 'Answered in part',
  no_data: 'Nothing in the record matches',
  insufficient_evidence: 'The record does not answer this',
  out_of_scope: 'Outside what is held',
  needs_clarification: 'More than one reading',
  budget_exhausted: 'Stopped at its limits',
  source_unavailable: 'A source cannot be reached',
}

export function asText(answer: Answer, labels: Labels, address: string): string {
  const numbers = citations(answer)
  const marks = (quotes: Quote[]) => [...new Set(quotes.map((q) => `[${numbers.get(q.document_id)}]`))].join('')
  const lines = [answer.question, '', `${statusWords[answer.status] ?? words(answer.status)}. ${answer.summary}`]
  const part = (title: string, items: string[]) => {
    if (items.length > 0) lines.push('', title, ...items)
  }
  for (const c of answer.computed ?? []) part(c.title, table(c))
  part('Findings', answer.findings.flatMap((f) => finding(f, marks)))
  part('What led to it', (answer.causal_chain ?? []).map((f, i) => `${i + 1}. ${f.text} ${marks(f.quotes)}`))
  part('Rules', (answer.regulatory ?? []).map((r) => `- ${r.regulation}: ${r.relevance} ${marks(r.quotes)}`))
  part('Sources that disagree', (answer.conflicts ?? []).flatMap((c) => [`- ${c.subject}:`, ...c.sides.map((s) => `  - ${s.text} ${marks(s.quotes)}`)]))
  part('Caveats', (answer.caveats ?? []).map((c) => `- ${c}`))
  part('Conditions', answer.ledger.constraints.map((c) => `- ${label(labels, c.field)} ${predicate(c.op, c.values)}: ${figure(c.alone)} alone, ${figure(c.unknown)} not recorded`))
  if (answer.ledger.constraints.length > 0) lines.push(`  all together: ${figure(answer.ledger.joint)}`)
  const cited = quotes(answer)
  part('Documents', [...numbers].map(([id, n]) => `[${n}] ${cited.find((q) => q.document_id === id)!.title} (${id})`))
  lines.push('', address)
  return `${lines.join('\n')}\n`
}

/** Every quote of an answer. */
export function quotes(answer: Answer): Quote[] {
  const findings = [...answer.findings, ...(answer.causal_chain ?? []), ...(answer.conflicts ?? []).flatMap((c) => c.sides)]
  return [...findings.flatMap((f) => f.quotes), ...(answer.regulatory ?? []).flatMap((r) => r.quotes)]
}

function finding(f: Finding, marks: (quotes: Quote[]) => string): string[] {
  const quoted = f.quotes.filter((q) => q.text !== f.text).map((q) => `  “${q.text}”${q.locator ? ` (${q.locator})` : ''}`)
  return [`- ${f.text} ${marks(f.quotes)}`, ...quoted]
}

function table(c: Computed): string[] {
  const out = [figureText(c)]
  if (c.columns && c.rows && c.rows.length > 0) {
    out.push(c.columns.join('\t'), ...c.rows.map((row) => row.map((v) => (v === null ? 'not recorded' : String(v))).join('\t')))
  }
  out.push(`Counted: ${c.filter || 'everything'}${c.method.data_date ? `; data to ${c.method.data_date}` : ''}`)
  if (c.ids.length > 0) out.push(`Records: ${c.ids.join(', ')}${c.next ? ' and more' : ''}`)
  return out
}

/** The one figure a computed value is about, in words. */
export function figureText(c: Computed): string {
  const least = c.method.at_least ? 'at least ' : ''
  if (c.kind === 'share') return `${c.percent} % (${figure(c.part_count ?? 0)} of ${least}${counted(c.total, c.unit_label)})`
  if (c.kind === 'sum') return `${least}${figure(c.sum ?? 0)} ${words(c.sum_of ?? '')}, in ${counted(c.total, c.unit_label)}`
  if (c.kind === 'first' || c.kind === 'last') return `${c.date}, of ${counted(c.total, c.unit_label)}`
  if (c.mention_of) return `mentioned in ${least}${figure(c.total)} of ${counted(c.mention_of, c.unit_label)}; a mention, not a cause`
  return `${least}${counted(c.total, c.unit_label)}`
}
