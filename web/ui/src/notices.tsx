import type { ComponentChildren } from 'preact'

import { words } from './figures.ts'
import { Command } from './start.tsx'
import type { Answer, Problem } from './wire.ts'

export function ProblemNotice({ problem }: { problem: Problem }) {
  return (
    <div class="notice problem" role="alert">
      <h2>{problem.detail}</h2>
      {problem.hint && <p>{problem.hint}</p>}
      <p class="small">{problem.status > 0 ? `${problem.status} ${problem.title} · ${problem.code}` : problem.code}</p>
    </div>
  )
}

function Notice({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="notice">
      <h3>{title}</h3>
      {children}
    </div>
  )
}

/** What the answer had to do without: collections that hold nothing, stages done in a lesser way. */
export function Shortfalls({ answer }: { answer: Answer }) {
  return (
    <>
      {answer.not_held?.map((n) => (
        <Notice key={n.collection} title={`Not held: ${n.collection}`}>
          <p>{n.reason}</p>
          <p>
            Fill it with <Command text={n.command} />
          </p>
        </Notice>
      ))}
      {answer.missing && answer.missing.length > 0 && (
        <Notice title="Nothing was found on">
          <ul class="plain">
            {answer.missing.map((m) => (
              <li key={m.name}>{m.name}</li>
            ))}
          </ul>
        </Notice>
      )}
      {answer.degraded && answer.degraded.length > 0 && (
        <Notice title="Done in a lesser way">
          <ul class="plain">
            {answer.degraded.map((d) => (
              <li key={d.stage}>
                <b>{words(d.stage)}</b>: {d.reason}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}
