import { useState } from 'preact/hooks'

import { Failure, judge, trace as fetchTrace } from './api.ts'
import { duration } from './figures.ts'
import { ProblemNotice } from './notices.tsx'
import type { Problem, Span, Trace } from './wire.ts'

const problemOf = (e: unknown): Problem => (e instanceof Failure ? e.problem : { title: 'Error', status: 0, code: 'page', detail: String(e) })

/** What happened for the question, step by step, once somebody asks for it; and a place to say whether the answer was right. */
export function TraceView({ id }: { id: string }) {
  const [trace, setTrace] = useState<Trace>()
  const [problem, setProblem] = useState<Problem>()
  const show = () => {
    setProblem(undefined)
    fetchTrace(id).then(setTrace, (e: unknown) => setProblem(problemOf(e)))
  }
  return (
    <>
      <code class="code">{id}</code>{' '}
      {!trace && (
        <button type="button" class="button small" onClick={show}>
          show what happened
        </button>
      )}
      <Verdict id={id} />
      {problem && <ProblemNotice problem={problem} />}
      {trace && <Steps trace={trace} />}
    </>
  )
}

function Steps({ trace }: { trace: Trace }) {
  return (
    <ol class="trace" aria-label="Steps of the question">
      {trace.spans.map((s) => (
        <Step key={s.span_id} span={s} whole={trace.duration_ms} />
      ))}
    </ol>
  )
}

function Step({ span, whole }: { span: Span; whole: number }) {
  const share = (ms: number): string => `${(100 * Math.min(1, ms / Math.max(whole, 0.001))).toFixed(2)}%`
  const values = [
    ['in', span.inputs],
    ['out', span.outputs],
  ].filter(([, v]) => v !== undefined)
  return (
    <li class={span.status === 'error' ? 'failed' : ''} style={{ '--depth': String(span.depth) }}>
      <details>
        <summary>
          <span class="step">{span.name.replaceAll('_', ' ')}</span> <span class="small">{span.kind.toLowerCase().replace('_', ' ')}</span>{' '}
          <span class="num">{duration(span.duration_ms)}</span>
          <span class="bar" aria-hidden="true" style={{ '--from': share(span.offset_ms), '--long': share(span.duration_ms) }} />
        </summary>
        {span.error && (
          <p class="note">
            {span.error_type}: {span.error}
          </p>
        )}
        {values.map(([name, value]) => (
          <pre key={String(name)} aria-label={name === 'in' ? 'What went in' : 'What came out'} tabIndex={0}>
            {JSON.stringify(value, null, 2)}
          </pre>
        ))}
      </details>
    </li>
  )
}

function Verdict({ id }: { id: string }) {
  const [said, setSaid] = useState<boolean>()
  const [problem, setProblem] = useState<Problem>()
  const say = (helpful: boolean) => {
    judge(id, helpful).then(
      () => setSaid(helpful),
      (e: unknown) => setProblem(problemOf(e)),
    )
  }
  return (
    <span class="verdict">
      {said === undefined ? (
        <>
          {' '}
          · Was the answer right?{' '}
          <button type="button" class="button small" onClick={() => say(true)}>
            yes
          </button>{' '}
          <button type="button" class="button small" onClick={() => say(false)}>
            no
          </button>
        </>
      ) : (
        <span role="status"> · Kept with the trace: {said ? 'right' : 'not right'}.</span>
      )}
      {problem && <ProblemNotice problem={problem} />}
    </span>
  )
}
