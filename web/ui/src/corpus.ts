// What is held, fetched once: collections, and the descriptions of those that hold
// anything, for labels and questions to begin with.

import { useEffect, useState } from 'preact/hooks'

import { collections, describe, Failure, version } from './api.ts'
import type { Labels } from './conditions.ts'
import { words } from './figures.ts'
import type { CollectionInfo, Description, Problem } from './wire.ts'

export interface Corpus {
  collections?: CollectionInfo[] | undefined
  descriptions: Description[]
  labels: Labels
  version?: string | undefined
  problem?: Problem | undefined
}

const none: Corpus = { descriptions: [], labels: new Map() }

export function useCorpus(attempt: number): Corpus {
  const [corpus, setCorpus] = useState<Corpus>(none)
  useEffect(() => {
    let current = true
    const show = (c: Partial<Corpus>) => current && setCorpus((before) => ({ ...before, ...c }))
    setCorpus(none)
    load(show).catch((e: unknown) => show({ problem: e instanceof Failure ? e.problem : { title: 'Error', status: 0, code: 'page', detail: String(e) } }))
    return () => {
      current = false
    }
  }, [attempt])
  return corpus
}

async function load(show: (c: Partial<Corpus>) => void): Promise<void> {
  const list = await collections()
  show({ collections: list })
  void version().then((v) => show({ version: v }), () => undefined)
  const descriptions = await Promise.all(list.filter((c) => c.documents > 0).map((c) => describe(c.name)))
  const labels = new Map<string, string>()
  for (const d of descriptions) for (const f of d.fields) if (!labels.has(f.name)) labels.set(f.name, f.label || words(f.name))
  show({ descriptions, labels })
}
