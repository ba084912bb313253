import { useEffect, useState } from 'preact/hooks'

import { count, type Asked } from './api.ts'
import { useActions } from './app.tsx'
import { conjunction, label, predicate, without, type Labels } from './conditions.ts'
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
  useEffect(() => setAside(new Set()), [ledger])
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
              <Row key={i} constraint={c} labels={labels} aside={aside.has(i)} onToggle={settled ? () => toggle(i) : undefined} />
            ))}
          </tbody>
          <tfoot>
            <Total ledger={ledger} aside={aside} />
          </tfoot>
        </table>
      ) : (
        <p class="note">None was found in the question{ledger.joint > 0 ? `: all ${figure(ledger.joint)} are searched` : ''}.</p>
      )}
      {aside.size > 0 && <AskAgain ledger={ledger} asked={asked} aside={aside} />}
      <Remarks ledger={ledger} asked={asked} labels={labels} />
    </section>
  )
}

function Row({ constraint: c, labels, aside, onToggle }: { constraint: Constraint; labels: Labels; aside: boolean; onToggle?: (() => void) | undefined }) {
  return (
    <tr class={aside ? 'aside' : undefined}>
      <th scope="row">
        <label class="chip">
          <input type="checkbox" checked={!aside} disabled={!onToggle} onChange={onToggle} />
          <span>
            <span class="chip-field">{label(labels, c.field)}</span> {predicate(c.op, c.values)}
          </span>
        </label>
        <span class="origin">{origin(c)}</span>
        {c.assumed && <span class="origin assumed">{c.assumed}</span>}
      </th>
      <td class="num" data-head="alone">
        {figure(c.alone)}
      </td>
      <td class="num" data-head="not recorded">
        {figure(c.unknown)}
        {c.unknown_within > 0 && <span class="within">{figure(c.unknown_within)} would otherwise count</span>}
      </td>
    </tr>
  )
}

function origin(c: Constraint): string {
  if (c.origin === 'user') return 'from your further condition'
  const said = c.implied ? `comes with “${c.text}”` : `from “${c.text}”`
  return c.origin === 'model' ? `${said}, added by the model` : said
}

function Total({ ledger, aside }: { ledger: Ledger; aside: ReadonlySet<number> }) {
  const n = useCountWithout(ledger, aside)
  const remaining = ledger.constraints.length - aside.size
  return (
    <>
      <tr class={aside.size > 0 ? 'total before' : 'total'}>
        <th scope="row">
          All together
          <Places ledger={ledger} />
        </th>
        <td class="num">{figure(ledger.joint)}</td>
        <td />
      </tr>
      {aside.size > 0 && (
        <tr class="total">
          <th scope="row">{remaining === 0 ? 'With no condition' : remaining === 1 ? 'With the one left' : `With the ${remaining} left`}</th>
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
 * The exact count without the conditions set aside: undefined while it is fetched, null if
 * it cannot be told. It is told only if counting all conditions the same way gives the
 * ledger's own total, so that two figures side by side are always of one kind.
 */
function useCountWithout(ledger: Ledger, aside: ReadonlySet<number>): number | null | undefined {
  const [n, setN] = useState<number | null>()
  const key = [...aside].sort((a, b) => a - b).join()
  useEffect(() => {
    setN(undefined)
    if (!key) return
    const places = [...new Set(ledger.constraints.flatMap((c) => c.collections))]
    const all = conjunction(ledger.constraints)
    const rest = conjunction(ledger.constraints.filter((_, i) => !aside.has(i)))
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
function AskAgain({ ledger, asked, aside }: { ledger: Ledger; asked: Asked; aside: ReadonlySet<number> }) {
  const { ask } = useActions()
  const dropped = ledger.constraints.filter((_, i) => aside.has(i))
  const next = askedWithout(asked, dropped)
  const [question, setQuestion] = useState(next.question)
  useEffect(() => setQuestion(next.question), [next.question])
  const submit = (e: Event) => {
    e.preventDefault()
    if (question.trim()) ask({ ...next, question: question.trim() })
  }
  return (
    <form class="again" onSubmit={submit}>
      <label for="again">Asked without {list([...new Set(dropped.map((c) => (c.origin === 'user' ? 'the further condition' : `“${c.text}”`)))])}</label>
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

/** When nothing satisfies all conditions: what would, and what there is. */
export function Relaxations({ ledger, asked, labels, noData }: Omit<Props, 'settled'> & { noData: boolean }) {
  const { ask } = useActions()
  const { constraints, relaxations = [], available = [] } = ledger
  if (constraints.length === 0 || ledger.joint > 0 || (!noData && relaxations.length + available.length === 0)) return null
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

