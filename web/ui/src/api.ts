// Calls to this page's own server. Addresses are relative: the page's <base> says under
// which path a proxy shows it.

import { events } from './stream.ts'
import type { CollectionInfo, Description, Document, Problem, ServerEvent, Trace } from './wire.ts'

/** A problem the server told, or the failure to reach it. */
export class Failure extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

const keyName = 'sextant-key'

// The key is kept for this tab only and never in an address.
const storedKey = (): string => sessionStorage.getItem(keyName) ?? ''

export const setKey = (key: string): void => sessionStorage.setItem(keyName, key)

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  if (storedKey()) headers.set('Authorization', `Bearer ${storedKey()}`)
  let response: Response
  try {
    response = await fetch(path, { ...init, headers })
  } catch (e) {
    if (init.signal?.aborted) throw e
    throw new Failure({ title: 'Unreachable', status: 0, code: 'unreachable', detail: 'The server cannot be reached.', hint: 'Is sextant serve still running?' })
  }
  // A question that ended with source_unavailable is an answer, though its status is 503.
  if (response.ok || (response.status === 503 && response.headers.get('Content-Type') === 'application/json')) return response
  throw new Failure(await problem(response))
}

async function problem(response: Response): Promise<Problem> {
  const fallback = { title: response.statusText, status: response.status, code: 'http', detail: `The server answered with status ${response.status}.` }
  try {
    return { ...fallback, ...((await response.json()) as Partial<Problem>) }
  } catch {
    return fallback
  }
}

const post = (path: string, body: unknown, signal?: AbortSignal, accept = 'application/json'): Promise<Response> =>
  call(path, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: accept }, body: JSON.stringify(body), signal: signal ?? null })

export async function collections(): Promise<CollectionInfo[]> {
  return ((await (await call('v1/collections')).json()) as { collections: CollectionInfo[] }).collections
}

export async function describe(name: string): Promise<Description> {
  return (await call(`v1/collections/${encodeURIComponent(name)}`)).json() as Promise<Description>
}

export async function document(id: string, signal?: AbortSignal): Promise<Document> {
  // encodeURIComponent leaves dots, and a path segment of dots would be resolved away.
  const segment = encodeURIComponent(id).replaceAll('.', '%2E')
  return (await call(`v1/documents/${segment}`, { signal: signal ?? null })).json() as Promise<Document>
}

export async function count(collection: string, filter: string, signal?: AbortSignal): Promise<number> {
  const body = (await (await post('v1/count', { collection, filter }, signal)).json()) as { count: number }
  return body.count
}

export interface Listed {
  documents: { id: string; native_id: string; date?: string; title: string }[]
  total: number
  next?: string
}

/** A page of the documents under a filter, after a cursor. */
export async function listed(collection: string, filter: string, after: string, limit: number): Promise<Listed> {
  return (await (await post('v1/list', { collection, filter, after, limit })).json()) as Listed
}

export async function version(): Promise<string> {
  return ((await (await call('health')).json()) as { version: string }).version
}

export async function trace(id: string): Promise<Trace> {
  return (await call(`v1/traces/${encodeURIComponent(id)}`)).json() as Promise<Trace>
}

/** Says whether an answer was right. */
export async function judge(id: string, helpful: boolean): Promise<void> {
  await post(`v1/traces/${encodeURIComponent(id)}/feedback`, { name: 'helpful', value: helpful })
}

/** A question with what is not in its words. */
export interface Asked {
  question: string
  filter?: string | undefined
  as_of?: string | undefined
  collections?: string[] | undefined
}

export async function* ask(asked: Asked, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await post('v1/ask', asked, signal, 'text/event-stream')
  yield* events(response.body!)
}
