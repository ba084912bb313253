import { useActions } from './app.tsx'
import { CopyButton } from './copy-button.tsx'
import type { Corpus } from './corpus.ts'
import { counted, span } from './figures.ts'
import { format } from './location.ts'
import { ProblemNotice } from './notices.tsx'
import type { CollectionInfo } from './wire.ts'

export function Start({ corpus }: { corpus: Corpus }) {
  if (corpus.problem) return <ProblemNotice problem={corpus.problem} />
  const examples = corpus.descriptions.flatMap((d) => d.examples).slice(0, 6)
  return (
    <div class="start">
      {examples.length > 0 && (
        <section aria-labelledby="begin">
          <h2 id="begin" class="eyebrow">
            Questions to begin with
          </h2>
          <ul class="examples">
            {examples.map((q) => (
              <li key={q}>
                <Example question={q} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {corpus.collections && <Holdings collections={corpus.collections} />}
    </div>
  )
}

/** A question as a link, so that it can be opened in a tab of its own. */
export function Example({ question }: { question: string }) {
  const { ask } = useActions()
  const follow = (e: MouseEvent) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey) return
    e.preventDefault()
    ask({ question })
  }
  return (
    <a href={format({ asked: { question } })} onClick={follow}>
      {question}
    </a>
  )
}

function Holdings({ collections }: { collections: CollectionInfo[] }) {
  const held = collections.filter((c) => c.documents > 0)
  const empty = collections.filter((c) => c.documents === 0)
  return (
    <section aria-labelledby="held">
      <h2 id="held" class="eyebrow">
        What is held
      </h2>
      {collections.length === 0 && <p class="note">Nothing yet. Fill a collection with sextant ingest.</p>}
      <dl class="holdings">
        {held.map((c) => (
          <div key={c.name}>
            <dt>{c.title}</dt>
            <dd>
              <span class="figure">{counted(c.documents, c.unit)}</span>
              {c.coverage && <span>{span(c.coverage.from, c.coverage.to)}</span>}
            </dd>
          </div>
        ))}
        {empty.map((c) => (
          <div key={c.name} class="empty">
            <dt>{c.title}</dt>
            <dd>
              <span>not ingested: run</span>
              <Command text={c.fill} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

export function Command({ text }: { text: string }) {
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${text}`}>
        copy
      </CopyButton>
    </span>
  )
}
