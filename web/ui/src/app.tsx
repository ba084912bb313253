import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useState } from 'preact/hooks'

import { AnswerView } from './answer.tsx'
import type { Asked } from './api.ts'
import { useAsking, type Progress } from './asking.ts'
import { statusWords } from './copy.ts'
import { useCorpus, type Corpus } from './corpus.ts'
import { DocumentPanel } from './document-panel.tsx'
import { KeyForm } from './key-form.tsx'
import { LedgerView } from './ledger.tsx'
import { current, format, type Place, type View } from './location.ts'
import { ProblemNotice } from './notices.tsx'
import { QuestionBox } from './question-box.tsx'
import { Start } from './start.tsx'

/** What every part of the page may do: ask, and open a document. */
export interface Actions {
  ask: (asked: Asked) => void
  open: (place: Place) => void
}

const ActionsContext = createContext<Actions>({ ask: () => undefined, open: () => undefined })

export const useActions = (): Actions => useContext(ActionsContext)

export function App() {
  const [view, setView] = useState<View>(current)
  const [keys, setKeys] = useState(0) // how often a key was entered
  const [repeats, setRepeats] = useState(0) // how often the same question was asked again
  const corpus = useCorpus(keys)
  const [progress, stop] = useAsking(view.asked, keys + repeats)

  useEffect(() => {
    const follow = () => setView(current())
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])

  const go = useCallback((next: View) => {
    history.pushState(null, '', format(next))
    setView(next)
  }, [])
  const actions: Actions = {
    ask: (asked) => {
      if (JSON.stringify(asked) === JSON.stringify(view.asked)) {
        setRepeats((n) => n + 1)
        return
      }
      window.scrollTo({ top: 0 })
      go({ asked })
    },
    open: (place) => go({ asked: view.asked, place }),
  }
  useEffect(() => {
    document.title = view.asked ? `${view.asked.question} – Sextant` : 'Sextant'
  }, [view.asked?.question])

  const needsKey = [corpus.problem, progress.problem].some((p) => p?.status === 401)
  return (
    <ActionsContext.Provider value={actions}>
      <div class={view.place ? 'frame with-document' : 'frame'}>
        <div class="sheet">
          <Masthead corpus={corpus} onHome={() => go({})} />
          <main>
            <h1 class="spoken">{view.asked?.question ?? 'Ask the record'}</h1>
            {needsKey ? (
              <KeyForm refused={keys > 0} onKey={() => setKeys((n) => n + 1)} />
            ) : (
              <>
                <QuestionBox asked={view.asked} corpus={corpus} busy={progress.phase === 'asking'} onStop={stop} />
                {view.asked ? <Result asked={view.asked} progress={progress} corpus={corpus} /> : <Start corpus={corpus} />}
              </>
            )}
          </main>
          <Colophon corpus={corpus} />
        </div>
        {view.place && <DocumentPanel place={view.place} labels={corpus.labels} onClose={() => go({ asked: view.asked })} />}
      </div>
    </ActionsContext.Provider>
  )
}

function Masthead({ corpus, onHome }: { corpus: Corpus; onHome: () => void }) {
  const home = (e: MouseEvent) => {
    if (e.metaKey || e.ctrlKey || e.shiftKey) return
    e.preventDefault()
    onHome()
  }
  const dates = corpus.collections?.map((c) => c.data_date ?? '').filter(Boolean) ?? []
  return (
    <header class="masthead">
      <a href="./" class="wordmark" onClick={home}>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path d="M16 4 5.5 24.500M16 4l10.500 20.500M16 4v22.500M4 24a27 27 0 0 0 24 0" />
        </svg>
        Sextant
      </a>
      {dates.length > 0 && <p>data to {dates.sort().at(-1)}</p>}
    </header>
  )
}

function Colophon({ corpus }: { corpus: Corpus }) {
  return (
    <footer class="colophon">
      <p>Statements are quoted, conditions are enforced on the whole corpus, figures are counted, not estimated.</p>
      <p>
        {corpus.version && <>Sextant {corpus.version} · </>}
        <a href="openapi.json">API</a>
      </p>
    </footer>
  )
}

function Result({ asked, progress, corpus }: { asked: Asked; progress: Progress; corpus: Corpus }) {
  const { answer, ledger, problem } = progress
  return (
    <div class="result" aria-busy={progress.phase === 'asking'}>
      <p class="spoken" role="status">
        {announcement(progress)}
      </p>
      {ledger && <LedgerView ledger={ledger} asked={asked} labels={corpus.labels} settled={progress.phase === 'done'} />}
      {problem && <ProblemNotice problem={problem} />}
      {progress.phase === 'stopped' && <p class="note">Stopped. What had arrived by then is shown.</p>}
      <AnswerView asked={asked} answer={answer} progress={progress} corpus={corpus} />
    </div>
  )
}

function announcement(p: Progress): string {
  switch (p.phase) {
    case 'asking':
      return 'Working on the answer.'
    case 'done':
      return `${statusWords[p.answer!.status] ?? ''}. ${p.answer!.summary}`
    case 'failed':
      return p.problem!.detail
    default:
      return ''
  }
}
