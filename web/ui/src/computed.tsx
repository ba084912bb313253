import { useId, useState } from 'preact/hooks'

import { Chart, drawable } from './chart.tsx'
import { csv, download } from './csv.ts'
import { counted, figure, words } from './figures.ts'
import { DocumentLink } from './finding.tsx'
import type { Computed, Method, Scalar } from './wire.ts'

export function ComputedView({ computed: c }: { computed: Computed }) {
  // The ledger's zero is the figure already; what it means is still worth having.
  if (c.total === 0 && c.ids.length === 0) return <MethodCard method={c.method} filter={c.filter} />
  return (
    <section class="computed">
      <h3>{c.title}</h3>
      <Headline computed={c} />
      {drawable(c) && <Chart computed={c} />}
      {c.columns && c.rows && c.rows.length > 0 && <Table computed={c} />}
      {c.breaks && c.breaks.length > 0 && (
        <ul class="plain small">
          {c.breaks.map((b) => (
            <li key={b.key + b.field}>
              <b>{b.key}</b>: {b.why}.
            </li>
          ))}
        </ul>
      )}
      {c.snippets && c.snippets.length > 0 && <Snippets computed={c} />}
      {c.unknown > 0 && (
        <p class="small">
          {figure(c.unknown)} of the {figure(c.total)} {c.group_by ? `have no ${words(c.group_by)} recorded` : 'are not recorded'}.
        </p>
      )}
      <MethodCard method={c.method} filter={c.filter} />
      <Ids computed={c} />
      <Export computed={c} />
    </section>
  )
}

/** The figure the computation is about, as large as its meaning. */
function Headline({ computed: c }: { computed: Computed }) {
  const least = c.method.at_least && <span class="least">at least</span>
  switch (c.kind) {
    case 'share':
      return (
        <p class="headline">
          <span class="figure">{c.percent} %</span>
          <span>
            {figure(c.part_count ?? 0)} of {c.method.at_least && 'at least '}
            {counted(c.total, c.unit_label)}
            {c.percent_low && `; 95 % interval ${c.percent_low} to ${c.percent_high} %`}
          </span>
        </p>
      )
    case 'first':
    case 'last':
      return (
        <p class="headline">
          <span class="figure">{c.date}</span>
          <span>of {counted(c.total, c.unit_label)}</span>
        </p>
      )
    case 'max':
    case 'min':
      return (
        <p class="headline">
          <span class="figure">{c.value ?? '–'}</span>
          <span>
            {c.kind === 'max' ? 'the most' : 'the least'} {words(c.value_of ?? '')} of {counted(c.total, c.unit_label)}
          </span>
        </p>
      )
    case 'mean':
      return (
        <p class="headline">
          <span class="figure">{c.value ?? '–'}</span>
          <span>
            {words(c.value_of ?? '')} on average, {figure(c.sum ?? 0)} over {counted(c.total, c.unit_label)}
          </span>
        </p>
      )
    case 'distinct':
      return (
        <p class="headline">
          <span class="figure">{figure(c.distinct ?? 0)}</span>
          <span>
            different values of {words(c.group_by ?? '')}, in {counted(c.total, c.unit_label)}
          </span>
        </p>
      )
    case 'sum':
      return (
        <p class="headline">
          {least}
          <span class="figure">{figure(c.sum ?? 0)}</span>
          <span>
            {words(c.sum_of ?? '')}, in {counted(c.total, c.unit_label)}
          </span>
        </p>
      )
    default:
      return (
        <p class="headline">
          {least}
          <span class="figure">{figure(c.total)}</span>
          <span>
            {c.mention_of ? `of ${counted(c.mention_of, c.unit_label)}; a mention, not a cause` : counted(c.total, c.unit_label).replace(/^\S+ /, '')}
          </span>
        </p>
      )
  }
}

const shown = (v: Scalar | undefined): string => (v === null || v === undefined ? '–' : typeof v === 'number' ? figure(v) : String(v))

// Up to so many rows a table stands at its full height.
const wholeRows = 40

function Table({ computed: c }: { computed: Computed }) {
  const rows = c.rows!
  const columns = c.columns!
  const numeric = columns.map((name, i) => name.endsWith('%') || rows.every((r) => typeof r[i] === 'number' || r[i] === null) && rows.some((r) => typeof r[i] === 'number'))
  const ids = new Set(c.ids)
  // A bar beside each figure shows the shape of a breakdown at a glance.
  const barred = columns.length === 2 && numeric[1] ? Math.max(...rows.map((r) => Number(r[1] ?? 0))) : 0
  const title = useId()
  const partial = new Set(c.partial ?? [])
  return (
    <div class={rows.length > wholeRows || columns.length > 4 ? 'scroll bounded' : 'scroll'} tabIndex={0} role="region" aria-labelledby={title}>
      <table class={barred > 0 ? 'data barred' : 'data'}>
        <caption id={title} class="spoken">
          {c.title}
        </caption>
        <thead>
          <tr>
            {columns.map((name, i) => (
              <th key={i} scope="col" class={numeric[i] ? 'num' : undefined}>
                {words(name)}
              </th>
            ))}
            {barred > 0 && <td />}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, r) => (
            <tr key={r}>
              {columns.map((_, i) => {
                const v = row[i]
                const content = typeof v === 'string' && ids.has(v) ? <DocumentLink place={{ id: v }}>{v}</DocumentLink> : shown(v)
                return i === 0 ? (
                  <th key={i} scope="row" class={numeric[i] ? 'num' : undefined}>
                    {content}
                    {partial.has(String(v)) && <span class="small"> partial</span>}
                  </th>
                ) : (
                  <td key={i} class={numeric[i] ? 'num' : undefined}>
                    {content}
                  </td>
                )
              })}
              {barred > 0 && (
                <td class="bar" aria-hidden="true">
                  <span class="track">
                    <span style={{ width: `${(100 * Number(row[1] ?? 0)) / barred}%` }} />
                  </span>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function MethodCard({ method: m, filter }: { method: Method; filter: string }) {
  const line = (name: string, value: preact.ComponentChildren) =>
    value ? (
      <div>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ) : null
  return (
    <details class="method">
      <summary>How this was counted</summary>
      <dl>
        {line('Unit', m.unit)}
        {line('Scope', m.scope)}
        {line('Period', m.period)}
        {line('Held', m.coverage)}
        {line('Condition', filter && <code class="code">{filter}</code>)}
        {line('Not recorded', m.unknown && m.unknown.length > 0 && m.unknown.map((u) => <p key={u}>{u}</p>))}
        {line('Open cases', m.open_cases ? figure(m.open_cases) : '')}
        {line('Counted as', m.counted_as && m.counted_as.length > 0 && m.counted_as.map(([value, n]) => `${shown(value)} (${shown(n)})`).join(' · '))}
        {line(
          'Other counts',
          m.other_counts && m.other_counts.length > 0 && (
            <ul class="plain">
              {m.other_counts.map((o) => (
                <li key={o.rule}>
                  <b>{figure(o.count)}</b> {o.rule}: {o.why}
                </li>
              ))}
            </ul>
          ),
        )}
        {line('Notes', m.notes && m.notes.length > 0 && m.notes.map((n) => <p key={n}>{n}</p>))}
        {line('Data to', m.data_date)}
        {line('Files', m.files && m.files.length > 0 && m.files.join(', '))}
      </dl>
    </details>
  )
}

/** Where the first records say what was asked for: a mention is no cause. */
function Snippets({ computed: c }: { computed: Computed }) {
  return (
    <div class="mentions">
      <h4 class="eyebrow">Mentions</h4>
      <ul class="plain">
        {c.snippets!.slice(0, firstSnippets).map((q) => (
          <li key={`${q.document_id} ${q.start}`}>
            “{q.text.trim()}”{' '}
            <DocumentLink place={{ id: q.document_id, start: q.start, end: q.end }}>
              {q.locator ? `${q.locator}, ` : ''}
              {q.title}
            </DocumentLink>
          </li>
        ))}
      </ul>
    </div>
  )
}

const firstSnippets = 8

/** The figure as a file, with the rules it was counted by, so that it can be counted again. */
function Export({ computed: c }: { computed: Computed }) {
  const [state, setState] = useState<'idle' | 'busy' | 'failed'>('idle')
  const save = async () => {
    setState('busy')
    try {
      download(`${c.collection}-${c.kind}.csv`, await csv(c))
      setState('idle')
    } catch {
      setState('failed')
    }
  }
  return (
    <p class="small">
      <button type="button" class="quiet" disabled={state === 'busy'} onClick={() => void save()}>
        Save as CSV
      </button>
      {state === 'failed' && ' It could not be written; try again.'}
    </p>
  )
}

const firstIds = 12

/** Every record behind a figure, so that it can be checked one by one. */
function Ids({ computed: c }: { computed: Computed }) {
  const [all, setAll] = useState(false)
  if (c.ids.length === 0) return null
  const ids = all ? c.ids : c.ids.slice(0, firstIds)
  const beyond = c.next ? c.total - c.ids.length : 0
  return (
    <div class="records">
      <h4 class="eyebrow">Records</h4>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <DocumentLink place={{ id }}>{id}</DocumentLink>
          </li>
        ))}
      </ul>
      {c.ids.length > firstIds && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : beyond > 0 ? `Show the first ${figure(c.ids.length)}` : `Show all ${figure(c.ids.length)}`}
        </button>
      )}
      {beyond > 0 && <span class="small"> {figure(beyond)} more are counted than listed here.</span>}
    </div>
  )
}
