import { useEffect, useState } from 'preact/hooks'

import { count, type Asked } from './api.ts'
import { useActions } from './app.tsx'
import { conjunction, expression, label, predicate, without, type Labels } from './conditions.ts'
import { canEdit, editable, edited } from './edit.ts'
import { figure, list, span } from './figures.ts'
import type { Constraint, Ledger, Scalar } from './wire.ts'

interface Props {
  ledger: Ledger
  asked: Asked
  labels: Labels
  settled: boolean
}

export function LedgerView({ ledger, asked, labels, settled }: Props) {
  const [aside, setAside] = useState<ReadonlySet<number>>(new Set())
  const [changed, setChanged] = useState<Changes>(new Map())
  useEffect(() => {
    setAside(new Set())
    setChanged(new Map())
  }, [ledger])
  const { constraints } = ledger
  // What came with one word goes with it: SR22 brought the make along.
  const toggle = (at: number) => {
    const group = constraints.flatMap((c, i) => (i === at || (c.text !== '' && c.text === constraints[at]!.text) ? [i] : []))
    setAside((before) => {
      const next = new Set(before)
      for (const i of group) if (before.has(at)) next.delete(i)
      else next.add(i)
      return next
    })
  }
  const change = (at: number, to: Constraint | undefined) =>
    setChanged((before) => {
      const next = new Map(before)
      if (to) next.set(at, to)
      else next.delete(at)
      return next
    })
  return (
    <section class="ledger" aria-labelledby="conditions">
      <h2 id="conditions" class="eyebrow">
        Conditions
      </h2>
      {constraints.length > 0 ? (
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="spoken">Condition</span>
              </th>
              <th scope="col" class="num">
                alone
              </th>
              <th scope="col" class="num">
                not recorded
              </th>
            </tr>
          </thead>
          <tbody>
            {constraints.map((c, i) => (
              <Row key={i} constraint={changed.get(i) ?? c} original={c} labels={labels} aside={aside.has(i)} onToggle={settled ? () => toggle(i) : undefined} onChange={settled && canEdit(c) ? (to) => change(i, to) : undefined} />
            ))}
          </tbody>
          <tfoot>
            <Total ledger={ledger} aside={aside} changed={changed} />
          </tfoot>
        </table>
      ) : (
        <p class="note">None was found in the question{ledger.joint > 0 ? `: all ${figure(ledger.joint)} are searched` : ''}.</p>
      )}
      {aside.size + changed.size > 0 && <AskAgain ledger={ledger} asked={asked} aside={aside} changed={changed} />}
      <Remarks ledger={ledger} asked={asked} labels={labels} />
    </section>
  )
}

/** Conditions with other values, by their place in the ledger. */
type Changes = ReadonlyMap<number, Constraint>

interface RowProps {
  constraint: Constraint
  original: Constraint
  labels: Labels
  aside: boolean
  onToggle?: (() => void) | undefined
  onChange?: ((to: Constraint | undefined) => void) | undefined
}

function Row({ constraint: c, original, labels, aside, onToggle, onChange }: RowProps) {
  const [text, setText] = useState<string>()
  useEffect(() => setText(undefined), [original])
  const next = text === undefined ? undefined : edited(original, text)
  const write = (to: string) => {
    setText(to)
    const read = edited(original, to)
    if (read) onChange?.(editable(read) === editable(original) ? undefined : read)
  }
  const close = (keep: boolean) => {
    if (!keep) onChange?.(undefined)
    setText(undefined)
  }
  const name = label(labels, c.field)
  return (
    <tr class={aside ? 'aside' : c !== original ? 'changed' : undefined}>
      <th scope="row">
        <label class="chip">
          <input type="checkbox" checked={!aside} disabled={!onToggle} onChange={onToggle} />
          <span>
            <span class="chip-field">{name}</span> {predicate(c.op, c.values)}
          </span>
        </label>
        {onChange && !aside && text === undefined && (
          <button type="button" class="quiet edit" aria-label={`Change ${name}`} onClick={() => setText(editable(c))}>
            change
          </button>
        )}
        {text !== undefined && (
          <input
            class="value"
            type="text"
            aria-label={`Value of ${name}`}
            aria-invalid={next ? undefined : true}
            value={text}
            autofocus
            onInput={(e) => write(e.currentTarget.value)}
            onKeyDown={(e) => (e.key === 'Enter' || e.key === 'Escape') && close(e.key === 'Enter')}
            onBlur={() => close(true)}
          />
        )}
        <span class="origin">{c === original ? origin(c) : 'changed by you'}</span>
        {c.assumed && <span class="origin assumed">{c.assumed}</span>}
      </th>
      <td class="num" data-head="alone">
        {c === original ? figure(c.alone) : <Alone constraint={c} />}
      </td>
      <td class="num" data-head="not recorded">
        {figure(c.unknown)}
        {c === original && c.unknown_within > 0 && <span class="within">{figure(c.unknown_within)} would otherwise count</span>}
      </td>
    </tr>
  )
}

/** How many satisfy a changed condition by itself. */
function Alone({ constraint: c }: { constraint: Constraint }) {
  const [n, setN] = useState<number>()
  const filter = expression(c)
  useEffect(() => {
    setN(undefined)
    if (c.collections.length !== 1 || !filter) return
    const control = new AbortController()
    count(c.collections[0]!, filter, control.signal).then(setN, () => undefined)
    return () => control.abort()
  }, [filter])
  return <>{n === undefined ? '…' : figure(n)}</>
}

function origin(c: Constraint): string {
  if (c.origin === 'user') return 'from your further condition'
  const said = c.implied ? `comes with “${c.text}”` : `from “${c.text}”`
  return c.origin === 'model' ? `${said}, added by the model` : said
}

function Total({ ledger, aside, changed }: { ledger: Ledger; aside: ReadonlySet<number>; changed: Changes }) {
  const n = useCount(ledger, aside, changed)
  const other = aside.size + changed.size > 0
  const remaining = ledger.constraints.length - aside.size
  return (
    <>
      <tr class={other ? 'total before' : 'total'}>
        <th scope="row">
          All together
          <Places ledger={ledger} />
        </th>
        <td class="num">{figure(ledger.joint)}</td>
        <td />
      </tr>
      {other && (
        <tr class="total">
          <th scope="row">{changed.size > 0 ? 'As changed' : remaining === 0 ? 'With no condition' : remaining === 1 ? 'With the one left' : `With the ${remaining} left`}</th>
          <td class="num" aria-live="polite">
            {n === undefined ? '…' : n === null ? <span class="small">ask to see</span> : figure(n)}
          </td>
          <td />
        </tr>
      )}
    </>
  )
}

function Places({ ledger }: { ledger: Ledger }) {
  const places = Object.entries(ledger.joint_by_collection).filter(([, n]) => n > 0)
  if (places.length < 2) return null
  return <span class="origin">{list(places.map(([name, n]) => `${figure(n)} in ${name}`))}</span>
}

/**
 * The exact count without the conditions set aside and with those changed: undefined while it is fetched, null if
 * it cannot be told. It is told only if counting all conditions the same way gives the
 * ledger's own total, so that two figures side by side are always of one kind.
 */
function useCount(ledger: Ledger, aside: ReadonlySet<number>, changed: Changes): number | null | undefined {
  const [n, setN] = useState<number | null>()
  const rest = conjunction(ledger.constraints.flatMap((c, i) => (aside.has(i) ? [] : [changed.get(i) ?? c])))
  const key = aside.size + changed.size > 0 ? `${rest}` : ''
  useEffect(() => {
    setN(undefined)
    if (!key) return
    const places = [...new Set(ledger.constraints.flatMap((c) => c.collections))]
    const all = conjunction(ledger.constraints)
    if (places.length !== 1 || all === undefined || rest === undefined) {
      setN(null)
      return
    }
    const control = new AbortController()
    Promise.all([count(places[0]!, all, control.signal), count(places[0]!, rest, control.signal)]).then(
      ([whole, part]) => setN(whole === ledger.joint ? part : null),
      () => control.signal.aborted || setN(null),
    )
    return () => control.abort()
  }, [ledger, key])
  return n
}

/** The question as it would be asked, open to correction before it is. */
function AskAgain({ ledger, asked, aside, changed }: { ledger: Ledger; asked: Asked; aside: ReadonlySet<number>; changed: Changes }) {
  const { ask } = useActions()
  const { constraints } = ledger
  const dropped = constraints.filter((_, i) => aside.has(i))
  const { next, gone, held } = askedChanged(asked, constraints, changed, aside)
  const [question, setQuestion] = useState(next.question)
  useEffect(() => setQuestion(next.question), [next.question])
  const submit = (e: Event) => {
    e.preventDefault()
    if (question.trim()) ask({ ...next, question: question.trim() })
  }
  return (
    <form class="again" onSubmit={submit}>
      <label for="again">
        Asked without {list([...new Set([...dropped, ...gone].map((c) => (c.origin === 'user' ? 'the further condition' : `“${c.text}”`)))])}
        {held && (
          <>
            {' '}and with <code>{held}</code>
          </>
        )}
      </label>
      <div class="ask-line">
        <input id="again" type="text" value={question} onInput={(e) => setQuestion(e.currentTarget.value)} />
        <button type="submit" class="button primary">
          Ask again
        </button>
      </div>
    </form>
  )
}

/** The words go from the question; a further condition goes as a whole. */
export function askedWithout(asked: Asked, dropped: Constraint[]): Asked {
  const texts = dropped.filter((c) => c.origin !== 'user').map((c) => c.text)
  const keepsFilter = dropped.every((c) => c.origin !== 'user')
  return { ...asked, question: without(asked.question, texts), filter: keepsFilter ? asked.filter : undefined }
}

/**
 * The words of a changed condition go from the question, with all that they said, and what
 * is to hold instead comes as a further condition. Conditions set aside go as well.
 */
export function askedChanged(asked: Asked, constraints: Constraint[], changed: Changes, aside: ReadonlySet<number> = new Set()): { next: Asked; gone: Constraint[]; held: string } {
  const words = new Set([...changed.keys()].map((at) => constraints[at]!.text))
  const replaced = (c: Constraint, at: number) => !aside.has(at) && (changed.has(at) || (c.text !== '' && words.has(c.text)))
  const gone = constraints.filter(replaced)
  const held = conjunction(constraints.flatMap((c, at) => (replaced(c, at) ? [changed.get(at) ?? c] : []))) ?? ''
  const next = askedWithout(asked, [...constraints.filter((_, at) => aside.has(at)), ...gone])
  if (held) next.filter = next.filter ? `(${next.filter}) and ${held}` : held
  return { next, gone, held }
}

/** When nothing satisfies all conditions: what would, and what there is. */
export function Relaxations({ ledger, asked, labels, noData }: Omit<Props, 'settled'> & { noData: boolean }) {
  const { ask } = useActions()
  const { constraints, relaxations = [], available = [] } = ledger
  if (constraints.length === 0 || ledger.joint > 0 || (!noData && relaxations.length + available.length + (ledger.widenings ?? []).length === 0)) return null
  const name = (at: number) => `${label(labels, constraints[at]!.field)} ${predicate(constraints[at]!.op, constraints[at]!.values)}`
  return (
    <div class="relax">
      {relaxations.length > 0 ? (
        <>
          <h3 class="eyebrow">How many without</h3>
          <ul class="plain">
            {relaxations.map((r, i) => {
              const dropped = r.drop_at.flatMap((at) => constraints[at] ?? [])
              return (
                <li key={i}>
                  <button type="button" class="option" onClick={() => ask(askedWithout(asked, dropped))}>
                    <span>{dropped.length > 0 ? list(r.drop_at.filter((at) => constraints[at]).map(name)) : list(r.drop)}</span>
                    <span class="num">{figure(r.count)}</span>
                  </button>
                </li>
              )
            })}
          </ul>
        </>
      ) : (
        noData && <p>No fewer of these conditions give anything either.</p>
      )}
      {(ledger.widenings ?? []).length > 0 && (
        <>
          <h3 class="eyebrow">How many if one is made wider</h3>
          <ul class="plain">
            {ledger.widenings!.map((w, i) => {
              const { expr: _, ...from } = constraints[w.at]!
              const wider = new Map([[w.at, { ...from, op: w.op, values: w.values }]])
              return (
                <li key={i}>
                  <button type="button" class="option" onClick={() => ask(askedChanged(asked, constraints, wider).next)}>
                    <span>
                      {label(labels, w.field)} {predicate(w.op, w.values)}
                    </span>
                    <span class="num">{figure(w.count)}</span>
                  </button>
                </li>
              )
            })}
          </ul>
        </>
      )}
      {available.map((a) => (
        <p key={a.field} class="available">
          <b>{label(labels, a.field)}</b> under the others: {a.values.map(valueCount).join(' · ')}
        </p>
      ))}
    </div>
  )
}

const valueCount = ([value, n]: Scalar[]): string => `${value ?? 'not recorded'} (${n})`

/** All that was noticed about the conditions and is not in the table. */
function Remarks({ ledger, asked, labels }: Omit<Props, 'settled'>) {
  const { ask } = useActions()
  const swap = (from: string, to: string) => ask({ ...asked, question: asked.question.replace(from, () => to) })
  const periods = ledger.constraints.length > 0 ? (ledger.coverage ?? []) : []
  const remarks = [
    ...(ledger.outside_coverage ?? []).map((text) => <>{text}</>),
    ...ledger.constraints.flatMap((c) =>
      c.recorded
        ? [
            <>
              <b>{label(labels, c.field)} is recorded</b> in {list(c.recorded.map((r) => `${(r.from === r.to ? r.from : `${r.from} to ${r.to}`)} for ${figure(r.recorded)} of ${figure(r.of)}`))}.
            </>,
          ]
        : [],
    ),
    ...(ledger.unenforceable ?? []).map((u) => (
      <>
        <b>“{u.text}” was not applied.</b> {u.reason}
      </>
    )),
    ...(ledger.unknown_values ?? []).map((u) => (
      <>
        <b>“{u.text}” stands nowhere in the corpus</b>
        {u.field && <> as {label(labels, u.field)}</>}.{u.nearest.length > 0 && ' Nearest: '}
        {u.nearest.map((near) => (
          <button key={near} type="button" class="quiet" onClick={() => swap(u.text, near)}>
            {near}
          </button>
        ))}
      </>
    )),
    ...(ledger.ambiguous ?? []).map((a) => (
      <>
        <b>“{a.text}” can be read as</b>{' '}
        {list(
          a.readings.map((r) => `${r.note ?? `${label(labels, r.field ?? '')} ${r.op ? predicate(r.op, r.values ?? []) : ''}`}${r.count === undefined ? '' : ` (${figure(r.count)})`}`),
          'or',
        )}
        . The first was taken.
      </>
    )),
  ]
  return (
    <>
      {remarks.length > 0 && (
        <ul class="remarks">
          {remarks.map((r, i) => (
            <li key={i}>{r}</li>
          ))}
        </ul>
      )}
      {periods.length > 0 && <p class="small">Held: {list(periods.map((c) => `${c.collection} ${span(c.from, c.to)}`))}.</p>}
    </>
  )
}

