import type { ComponentChildren } from 'preact'

import type { Asked } from './api.ts'
import type { Progress, Stage } from './asking.ts'
import { ComputedView } from './computed.tsx'
import { asText, citations, quotes, statusWords } from './copy.ts'
import { CopyButton } from './copy-button.tsx'
import type { Corpus } from './corpus.ts'
import { counted, duration, figure, words } from './figures.ts'
import { DocumentLink, FindingView, QuoteView, type Numbers } from './finding.tsx'
import { format } from './location.ts'
import { Relaxations } from './ledger.tsx'
import { Shortfalls } from './notices.tsx'
import { Example } from './start.tsx'
import { TraceView } from './trace.tsx'
import type { Answer } from './wire.ts'

interface Props {
  asked: Asked
  answer?: Answer | undefined
  progress: Progress
  corpus: Corpus
}

// What is longer is set as text, not as a headline.
const shortSummary = 140

export function AnswerView({ asked, answer, progress, corpus }: Props) {
  if (!answer) return <Working progress={progress} />
  const numbers = citations(answer)
  return (
    <article class={`answer ${answer.status}`} aria-labelledby="status">
      <header>
        <h2 id="status" class="status">
          {statusWords[answer.status] ?? words(answer.status)}
        </h2>
        <p class={answer.summary.length > shortSummary ? 'summary long' : 'summary'}>{answer.summary}</p>
        <Tools asked={asked} answer={answer} corpus={corpus} />
      </header>
      <Relaxations ledger={answer.ledger} asked={asked} labels={corpus.labels} noData={answer.status === 'no_data'} />
      <Shortfalls answer={answer} />
      {answer.computed?.map((c, i) => (
        <ComputedView key={i} computed={c} />
      ))}
      <Findings answer={answer} numbers={numbers} />
      <Listing title="Caveats" items={answer.caveats} />
      <Documents answer={answer} numbers={numbers} />
      {answer.suggestions && answer.suggestions.length > 0 && (
        <Part title="Questions that have an answer">
          <ul class="examples">
            {answer.suggestions.map((q) => (
              <li key={q}>
                <Example question={q} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Workings answer={answer} stages={progress.stages} />
    </article>
  )
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="part">
      <h3 class="eyebrow">{title}</h3>
      {children}
    </section>
  )
}

function Listing({ title, items }: { title: string; items?: string[] | undefined }) {
  if (!items || items.length === 0) return null
  return (
    <Part title={title}>
      <ul class="plain">
        {items.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </Part>
  )
}

/** What has arrived while the answer is being made. */
function Working({ progress: p }: { progress: Progress }) {
  if (p.phase === 'idle') return null
  const now = p.stages.findLast((s) => s.ms === undefined)
  return (
    <div class="working">
      {p.phase === 'asking' && (
        <p class="pulse">
          {words(now?.name ?? 'working')}
          {p.passages > 0 && <span class="small"> · {counted(p.passages, 'passages')}</span>}
        </p>
      )}
      {p.phase !== 'asking' && p.findings.length > 0 && <h2 class="eyebrow">What had arrived</h2>}
      {p.findings.map((f, i) => (
        <FindingView key={i} finding={f} numbers={new Map()} />
      ))}
    </div>
  )
}

function Tools({ asked, answer, corpus }: { asked: Asked; answer: Answer; corpus: Corpus }) {
  const address = () => new URL(format({ asked }), document.baseURI).href
  return (
    <p class="tools">
      <CopyButton text={() => asText(answer, corpus.labels, address())}>Copy with citations</CopyButton>
      <CopyButton text={address}>Copy link</CopyButton>
      <CopyButton text={() => JSON.stringify(answer, null, 2)}>Copy JSON</CopyButton>
    </p>
  )
}

function Findings({ answer: a, numbers }: { answer: Answer; numbers: Numbers }) {
  return (
    <>
      {a.findings.length > 0 && (
        <Part title="Findings">
          {a.findings.map((f, i) => (
            <FindingView key={i} finding={f} numbers={numbers} />
          ))}
        </Part>
      )}
      {a.causal_chain && a.causal_chain.length > 0 && (
        <Part title="What led to it">
          <ol class="chain">
            {a.causal_chain.map((f, i) => (
              <li key={i}>
                <FindingView finding={f} numbers={numbers} />
              </li>
            ))}
          </ol>
        </Part>
      )}
      {a.regulatory && a.regulatory.length > 0 && (
        <Part title="Rules">
          {a.regulatory.map((r, i) => (
            <div key={i} class="finding">
              <p>
                <b>{r.regulation}</b> {r.version && <span class="small">text of {r.version}</span>} {r.compliance_status && <span class="tag">{words(r.compliance_status)}</span>}
                <br />
                {r.relevance}
              </p>
              {r.quotes.map((q, j) => (
                <QuoteView key={j} quote={q} numbers={numbers} />
              ))}
            </div>
          ))}
        </Part>
      )}
      {a.conflicts && a.conflicts.length > 0 && (
        <Part title="Sources that disagree">
          {a.conflicts.map((c, i) => (
            <div key={i} class="conflict">
              <h4>{c.subject}</h4>
              <div class="sides">
                {c.sides.map((s, j) => (
                  <div key={j}>
                    <p class="small">
                      {s.source}
                      {j === 0 && ', which has the higher authority'}
                    </p>
                    <FindingView finding={s} numbers={numbers} />
                  </div>
                ))}
              </div>
            </div>
          ))}
        </Part>
      )}
    </>
  )
}

/** The documents behind the numbers, as a list of sources has them. */
function Documents({ answer, numbers }: { answer: Answer; numbers: Numbers }) {
  if (numbers.size === 0) return null
  const titles = new Map(quotes(answer).map((q) => [q.document_id, q.title]))
  return (
    <Part title={numbers.size === 1 ? 'Document' : 'Documents'}>
      <ol class="sources">
        {[...numbers].map(([id, n]) => (
          <li key={id}>
            <b>[{n}]</b>
            <span>
              <DocumentLink place={{ id }}>{titles.get(id) || id}</DocumentLink> <span class="small">{id}</span>
            </span>
          </li>
        ))}
      </ol>
    </Part>
  )
}

/** How the answer came about, for whoever wants to check it. */
function Workings({ answer: a, stages }: { answer: Answer; stages: Stage[] }) {
  const usage = a.usage.model_calls > 0 ? `${counted(a.usage.model_calls, 'model calls')}, ${figure(a.usage.input_tokens + a.usage.output_tokens)} tokens` : 'no language model'
  return (
    <section class="workings" aria-label="How the answer was made">
      {a.evidence.length > 0 && (
        <details>
          <summary>Evidence: {counted(a.evidence.length, 'passages')}</summary>
          <ol class="evidence">
            {a.evidence.map((p) => (
              <li key={p.chunk_id}>
                <DocumentLink place={{ id: p.document_id, start: p.start, end: p.end }}>
                  {p.title}
                  {p.locator && `, ${p.locator}`}
                </DocumentLink>
                <p>{p.content}</p>
              </li>
            ))}
          </ol>
        </details>
      )}
      {a.removed && a.removed.length > 0 && (
        <details>
          <summary>Removed by the check: {counted(a.removed.length, 'statements')}</summary>
          <ul class="plain">
            {a.removed.map((r, i) => (
              <li key={i}>
                <s>{r.text}</s> {r.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      <details>
        <summary>How it was answered</summary>
        <dl>
          <div>
            <dt>Read as</dt>
            <dd>
              {words(a.intent)}
              {a.strategy && `, ${words(a.strategy)}`}; {a.confidence} confidence
            </dd>
          </div>
          {a.ledger.filter && (
            <div>
              <dt>Condition</dt>
              <dd>
                <code class="code">{a.ledger.filter}</code>
              </dd>
            </div>
          )}
          <div>
            <dt>Counted from</dt>
            <dd>{a.as_of}</dd>
          </div>
          {stages.length > 0 && (
            <div>
              <dt>Stages</dt>
              <dd>
                <ol class="stages">
                  {stages.map((s, i) => (
                    <li key={i}>
                      <span>{words(s.name)}</span> <span class="num">{s.ms === undefined ? '' : duration(s.ms)}</span> <span class="small">{s.note}</span>
                    </li>
                  ))}
                </ol>
              </dd>
            </div>
          )}
          <div>
            <dt>Cost</dt>
            <dd>
              {duration(a.usage.duration_ms)}, {usage}
            </dd>
          </div>
          {a.trace_id && (
            <div>
              <dt>Trace</dt>
              <dd>
                <TraceView id={a.trace_id} />
              </dd>
            </div>
          )}
        </dl>
      </details>
    </section>
  )
}
