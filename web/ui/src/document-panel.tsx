import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

import { document as fetchDocument, Failure } from './api.ts'
import { inOrder, label, type Labels } from './conditions.ts'
import { CopyButton } from './copy-button.tsx'
import { format, type Place } from './location.ts'
import { ProblemNotice } from './notices.tsx'
import { sections, type Piece } from './sections.ts'
import type { Document, MetaValue, Problem } from './wire.ts'

interface Props {
  place: Place
  labels: Labels
  onClose: () => void
}

// Beside the answer where there is room for both, over it where there is not.
const roomy = () => window.matchMedia('(min-width: 70rem)').matches

export function DocumentPanel({ place, labels, onClose }: Props) {
  const panel = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const [doc, problem] = useDocument(place.id)

  // Focus goes in, and on closing back to the link that opened the panel.
  useLayoutEffect(() => {
    const from = document.activeElement
    const dialog = panel.current!
    if (roomy()) dialog.show()
    else dialog.showModal()
    heading.current?.focus()
    return () => {
      dialog.close()
      if (from instanceof HTMLElement && from.isConnected) from.focus()
    }
  }, [])
  // Escape closes from anywhere, also while the focus is in the answer beside it.
  const close = useRef(onClose)
  close.current = onClose
  useEffect(() => {
    const keyed = (e: KeyboardEvent) => {
      if (e.key !== 'Escape') return
      e.preventDefault()
      close.current()
    }
    window.addEventListener('keydown', keyed)
    return () => window.removeEventListener('keydown', keyed)
  }, [])
  const cancel = (e: Event) => {
    e.preventDefault()
    onClose()
  }
  return (
    <dialog class="document" ref={panel} aria-labelledby="document-title" onCancel={cancel}>
      <div class="document-head">
        <h2 id="document-title" ref={heading} tabIndex={-1}>
          {doc?.title || place.id}
        </h2>
        <button type="button" class="button" onClick={onClose} aria-label="Close the document">
          Close
        </button>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      {doc && <Sheet key={doc.id} doc={doc} place={place} labels={labels} />}
    </dialog>
  )
}

function useDocument(id: string): [Document | undefined, Problem | undefined] {
  const [doc, setDoc] = useState<Document>()
  const [problem, setProblem] = useState<Problem>()
  useEffect(() => {
    const control = new AbortController()
    setDoc(undefined)
    setProblem(undefined)
    fetchDocument(id, control.signal).then(setDoc, (e: unknown) => {
      if (!control.signal.aborted) setProblem(e instanceof Failure ? e.problem : { title: 'Error', status: 0, code: 'page', detail: String(e) })
    })
    return () => control.abort()
  }, [id])
  return [doc?.id === id || doc?.id.endsWith(`:${id}`) ? doc : undefined, problem]
}

function Sheet({ doc, place, labels }: { doc: Document; place: Place; labels: Labels }) {
  const text = useRef<HTMLDivElement>(null)
  const { start, end } = place
  useLayoutEffect(() => {
    text.current?.querySelector('mark')?.scrollIntoView({ block: 'center' })
  }, [doc, start, end])
  const address = () => new URL(format({ place: { ...place, id: doc.id } }), document.baseURI).href
  return (
    <>
      <p class="provenance">
        <code class="code">{doc.id}</code> in {doc.collection}
        {doc.source.uri && <>, from {doc.source.uri}</>}
        {doc.source.retrieved_at && <>, read {doc.source.retrieved_at.slice(0, 10)}</>}
        {doc.valid?.from && <>, in force from {doc.valid.from.slice(0, 10)}</>}
        {doc.valid?.to && <> until {doc.valid.to.slice(0, 10)}</>} <CopyButton text={address}>copy link</CopyButton>
      </p>
      <Recorded metadata={doc.metadata} labels={labels} />
      <div class="text" ref={text}>
        {sections(doc, start, end).map((s, i) => (
          <div key={i} class={`section ${s.locator ? 'named' : ''}`}>
            {s.locator && <h3 class="eyebrow">{s.locator}</h3>}
            {s.heading ? <h3>{marked(s.pieces)}</h3> : <p>{marked(s.pieces)}</p>}
          </div>
        ))}
      </div>
    </>
  )
}

const marked = (pieces: Piece[]) => pieces.map((p, i) => (p.marked ? <mark key={i}>{p.text}</mark> : p.text))

/** The typed fields of a document, groups as one small table each. */
function Recorded({ metadata, labels }: { metadata: Record<string, MetaValue>; labels: Labels }) {
  const names = Object.keys(metadata)
  if (names.length === 0) return null
  const groups = names.filter((n) => isGroup(metadata[n]!))
  const plain = inOrder(labels, names.filter((n) => !groups.includes(n)))
  return (
    <details class="recorded">
      <summary>Recorded fields</summary>
      <dl>
        {plain.map((n) => (
          <div key={n}>
            <dt>{label(labels, n)}</dt>
            <dd>{shown(metadata[n] as Value)}</dd>
          </div>
        ))}
      </dl>
      {groups.map((n) => (
        <Group key={n} name={n} elements={metadata[n] as Element[]} labels={labels} />
      ))}
    </details>
  )
}

type Value = string | number | boolean | null | (string | number | boolean | null)[]
type Element = Record<string, Value>

const isGroup = (v: MetaValue): boolean => Array.isArray(v) && v.some((e) => typeof e === 'object' && e !== null)

const shown = (v: Value): string => (Array.isArray(v) ? v.map(String).join(', ') : v === null ? '–' : String(v))

function Group({ name, elements, labels }: { name: string; elements: Element[]; labels: Labels }) {
  const columns = inOrder(labels, [...new Set(elements.flatMap(Object.keys))])
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label(labels, name)}>
      <table class="data">
        <caption>{label(labels, name)}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c} scope="col">
                {label(labels, c)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {elements.map((e, i) => (
            <tr key={i}>
              {columns.map((c) => (
                <td key={c}>{e[c] === undefined ? '–' : shown(e[c])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
