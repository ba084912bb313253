// One question under way: what has arrived so far, and what to make of each event.

import { useEffect, useReducer, useRef } from 'preact/hooks'

import { ask, Failure, type Asked } from './api.ts'
import type { Answer, Finding, Ledger, Problem, ServerEvent } from './wire.ts'

export interface Stage {
  name: string
  ms?: number | undefined
  note?: string | undefined
}

export interface Progress {
  phase: 'idle' | 'asking' | 'done' | 'failed' | 'stopped'
  stages: Stage[]
  ledger?: Ledger | undefined
  passages: number
  findings: Finding[]
  answer?: Answer | undefined
  problem?: Problem | undefined
}

const idle: Progress = { phase: 'idle', stages: [], passages: 0, findings: [] }

type Action = { kind: 'reset' } | { kind: 'start' } | { kind: 'stop' } | { kind: 'event'; event: ServerEvent } | { kind: 'fail'; problem: Problem }

export function reduce(p: Progress, a: Action): Progress {
  switch (a.kind) {
    case 'reset':
      return idle
    case 'start':
      return { ...idle, phase: 'asking' }
    case 'stop':
      return p.phase === 'asking' ? { ...p, phase: 'stopped' } : p
    case 'fail':
      return { ...p, phase: 'failed', problem: a.problem }
    case 'event':
      return arrive(p, a.event)
  }
}

function arrive(p: Progress, e: ServerEvent): Progress {
  switch (e.name) {
    case 'stage_started':
      return { ...p, stages: [...p.stages, { name: e.data.stage }] }
    case 'stage_done':
      return { ...p, stages: p.stages.map((s) => (s.name === e.data.stage && s.ms === undefined ? { ...s, ms: e.data.duration_ms, note: e.data.note } : s)) }
    case 'ledger':
      return { ...p, ledger: e.data.ledger }
    case 'passages':
      return { ...p, passages: p.passages + e.data.passages.length }
    case 'delta':
      return { ...p, findings: [...p.findings, e.data.finding] }
    case 'final':
      return { ...p, phase: 'done', answer: e.data.answer, ledger: e.data.answer.ledger }
    case 'error':
      return { ...p, phase: 'failed', problem: e.data }
    default:
      return p // an event of a newer server
  }
}

const broken: Problem = { title: 'Interrupted', status: 0, code: 'interrupted', detail: 'The connection broke off before the answer was complete.', hint: 'What arrived is shown; ask again for the whole.' }

/** Asks whenever `asked` changes, or `attempt` does; a new question ends the one before. */
export function useAsking(asked: Asked | undefined, attempt: number): [Progress, () => void] {
  const [progress, dispatch] = useReducer(reduce, idle)
  const running = useRef<AbortController>(undefined)
  const key = asked && JSON.stringify(asked)
  useEffect(() => {
    if (!asked) {
      dispatch({ kind: 'reset' })
      return
    }
    const control = new AbortController()
    running.current = control
    dispatch({ kind: 'start' })
    void run(asked, control.signal, dispatch)
    return () => control.abort()
  }, [key, attempt])
  const stop = () => {
    running.current?.abort()
    dispatch({ kind: 'stop' })
  }
  return [progress, stop]
}

async function run(asked: Asked, signal: AbortSignal, dispatch: (a: Action) => void): Promise<void> {
  let ended = false
  try {
    for await (const event of ask(asked, signal)) {
      if (signal.aborted) return
      dispatch({ kind: 'event', event })
      ended ||= event.name === 'final' || event.name === 'error'
    }
    if (!ended) dispatch({ kind: 'fail', problem: broken })
  } catch (e) {
    if (!signal.aborted && !ended) dispatch({ kind: 'fail', problem: e instanceof Failure ? e.problem : broken })
  }
}
