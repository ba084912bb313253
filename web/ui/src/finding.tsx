import { useActions } from './app.tsx'
import { format, type Place } from './location.ts'
import type { Finding, Quote } from './wire.ts'

export type Numbers = ReadonlyMap<string, number>

/** A link that opens a document beside the page; held keys open it in a tab of its own. */
export function DocumentLink({ place, class: name, children }: { place: Place; class?: string; children: preact.ComponentChildren }) {
  const { open } = useActions()
  const follow = (e: MouseEvent) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey) return
    e.preventDefault()
    open(place)
  }
  return (
    <a class={name} href={format({ place })} onClick={follow}>
      {children}
    </a>
  )
}

export function QuoteView({ quote: q, numbers, confidence }: { quote: Quote; numbers: Numbers; confidence?: string | undefined }) {
  return (
    <blockquote class="quote">
      <DocumentLink place={{ id: q.document_id, start: q.start, end: q.end }}>
        <q>{q.text}</q>
        <span class="cite">
          {numbers.has(q.document_id) && <b>{numbers.get(q.document_id)}</b>}
          {q.locator && <span class={numbers.size === 1 ? 'cited' : undefined}>{q.locator}</span>}
          {(numbers.size !== 1 || !q.locator) && <span class="cited">{q.title}</span>}
          <Confidence of={confidence} />
        </span>
      </DocumentLink>
    </blockquote>
  )
}

/** High confidence goes without saying. */
function Confidence({ of }: { of?: string | undefined }) {
  return of && of !== 'high' ? <span class="tag">{of} confidence</span> : null
}

/** A statement over its quotes. One that is nothing but its quote is shown as that. */
export function FindingView({ finding: f, numbers }: { finding: Finding; numbers: Numbers }) {
  const verbatim = f.quotes.length === 1 && f.quotes[0]!.text.trim() === f.text.trim()
  return (
    <div class="finding">
      {!verbatim && (
        <p>
          {f.text} <Confidence of={f.confidence} />
        </p>
      )}
      {f.quotes.map((q, i) => (
        <QuoteView key={i} quote={q} numbers={numbers} confidence={verbatim ? f.confidence : undefined} />
      ))}
    </div>
  )
}
