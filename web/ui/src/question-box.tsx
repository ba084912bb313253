import { useEffect, useRef, useState } from 'preact/hooks'

import { count, Failure, type Asked } from './api.ts'
import { useActions } from './app.tsx'
import type { Corpus } from './corpus.ts'
import { counted } from './figures.ts'

interface Props {
  asked?: Asked | undefined
  corpus: Corpus
  busy: boolean
  onStop: () => void
}

export function QuestionBox({ asked, corpus, busy, onStop }: Props) {
  const { ask } = useActions()
  const [question, setQuestion] = useState(asked?.question ?? '')
  const [filter, setFilter] = useState(asked?.filter ?? '')
  const [asOf, setAsOf] = useState(asked?.as_of ?? '')
  const [only, setOnly] = useState<string[]>(asked?.collections ?? [])
  const field = useRef<HTMLTextAreaElement>(null)

  // The address may change without a submit: back, forward, an example.
  const key = JSON.stringify(asked)
  useEffect(() => {
    setQuestion(asked?.question ?? '')
    setFilter(asked?.filter ?? '')
    setAsOf(asked?.as_of ?? '')
    setOnly(asked?.collections ?? [])
  }, [key])
  useEffect(() => grow(field.current), [question])
  useEffect(() => {
    if (!asked) field.current?.focus()
  }, [!asked])

  const submit = (e: Event) => {
    e.preventDefault()
    const text = question.trim()
    if (!text) {
      field.current?.focus()
      return
    }
    ask({ question: text, filter: filter.trim() || undefined, as_of: asOf || undefined, collections: only.length > 0 ? only : undefined })
  }
  const keyed = (e: KeyboardEvent) => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) submit(e)
  }
  const narrowed = Boolean(asked?.filter || asked?.as_of || asked?.collections)
  const held = corpus.collections?.filter((c) => c.documents > 0) ?? []
  return (
    <form class="ask" role="search" onSubmit={submit}>
      <label for="question" class="spoken">
        Question
      </label>
      <div class="ask-line">
        <textarea
          id="question"
          ref={field}
          rows={1}
          value={question}
          placeholder="Ask the record"
          enterkeyhint="search"
          onInput={(e) => setQuestion(e.currentTarget.value)}
          onKeyDown={keyed}
        />
        {/* Keyed apart: one element that turned from Stop into Ask under the pointer would submit. */}
        {busy ? (
          <button key="stop" type="button" class="button" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button key="ask" type="submit" class="button primary">
            Ask
          </button>
        )}
      </div>
      <details class="narrow" open={narrowed}>
        <summary>Narrow it down</summary>
        <div class="narrow-fields">
          <FilterField filter={filter} onFilter={setFilter} corpus={corpus} />
          <p class="field short">
            <label for="as-of">Count “last year” and the like from</label>
            <input id="as-of" type="date" value={asOf} onInput={(e) => setAsOf(e.currentTarget.value)} />
          </p>
          {held.length > 1 && (
            <fieldset class="field">
              <legend>Only in</legend>
              {held.map((c) => (
                <label key={c.name} class="choice">
                  <input type="checkbox" checked={only.includes(c.name)} onChange={(e) => setOnly(e.currentTarget.checked ? [...only, c.name] : only.filter((n) => n !== c.name))} />
                  {c.title}
                </label>
              ))}
            </fieldset>
          )}
        </div>
      </details>
    </form>
  )
}

/** Fits the field to its text where CSS alone cannot (field-sizing). */
function grow(field: HTMLTextAreaElement | null): void {
  if (!field || CSS.supports('field-sizing', 'content')) return
  field.style.height = 'auto'
  field.style.height = `${field.scrollHeight}px`
}

/** A condition in EXPR, counted while it is typed, so that a mistake shows before asking. */
function FilterField({ filter, onFilter, corpus }: { filter: string; onFilter: (f: string) => void; corpus: Corpus }) {
  const [said, setSaid] = useState<{ text: string; wrong: boolean }>()
  const held = corpus.collections?.filter((c) => c.documents > 0) ?? []
  const names = held.map((c) => c.name).join(' ')
  useEffect(() => {
    setSaid(undefined)
    const text = filter.trim()
    if (!text || held.length === 0) return
    const control = new AbortController()
    const wait = setTimeout(() => void countIn(held, text, control.signal).then((s) => control.signal.aborted || setSaid(s)), 250)
    return () => {
      clearTimeout(wait)
      control.abort()
    }
  }, [filter, names])
  const fields = corpus.descriptions.flatMap((d) => d.fields.slice(0, 60))
  return (
    <div class="field">
      <label for="filter">A further condition</label>
      <input
        id="filter"
        type="text"
        class="code"
        value={filter}
        placeholder="state = AK and event_date >= 2010-01-01"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-describedby="filter-said"
        aria-invalid={said?.wrong ?? false}
        onInput={(e) => onFilter(e.currentTarget.value)}
      />
      <p id="filter-said" class={said?.wrong ? 'hint wrong' : 'hint'} aria-live="polite">
        {said?.text ?? ''}
      </p>
      {fields.length > 0 && (
        <details class="fields">
          <summary>Fields</summary>
          <dl>
            {fields.map((f) => (
              <div key={f.name}>
                <dt class="code">{f.name}</dt>
                <dd>{f.label && f.label !== f.name ? f.label : f.kind}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </div>
  )
}

async function countIn(held: { name: string; unit: string }[], filter: string, signal: AbortSignal): Promise<{ text: string; wrong: boolean } | undefined> {
  const counts = await Promise.allSettled(held.map((c) => count(c.name, filter, signal)))
  const good = counts.flatMap((r, i) => (r.status === 'fulfilled' ? [counted(r.value, held[i]!.unit)] : []))
  if (good.length > 0) return { text: `${good.join(', ')} satisfy it alone`, wrong: false }
  const first = counts[0]
  if (first?.status === 'rejected' && first.reason instanceof Failure) return { text: first.reason.problem.detail, wrong: true }
  return undefined
}
