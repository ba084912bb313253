// What the address says is shown: /?q=... asks, /documents/{id}?start=&end= opens a
// document; both at once when a quote of an answer is open.

import type { Asked } from './api.ts'

/** A document, and the byte range to show. */
export interface Place {
  id: string
  start?: number | undefined
  end?: number | undefined
}

export interface View {
  asked?: Asked | undefined
  place?: Place | undefined
}

/** The path the page lives under, with a slash at its end. */
const base = (): string => new URL(document.baseURI).pathname

export function parse(pathname: string, search: string, root = '/'): View {
  const p = new URLSearchParams(search)
  const view: View = {}
  const question = p.get('q')?.trim()
  if (question) {
    view.asked = { question }
    if (p.get('filter')) view.asked.filter = p.get('filter')!
    if (p.get('as_of')) view.asked.as_of = p.get('as_of')!
    if (p.getAll('in').length > 0) view.asked.collections = p.getAll('in')
  }
  const prefix = `${root}documents/`
  const id = pathname.startsWith(prefix) ? decode(pathname.slice(prefix.length)) : p.get('doc')
  if (id) view.place = { id, start: offset(p.get('start')), end: offset(p.get('end')) }
  return view
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function offset(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

/** The address of a view, relative to the page's base. */
export function format(view: View): string {
  const p = new URLSearchParams()
  if (view.asked) {
    p.set('q', view.asked.question)
    if (view.asked.filter) p.set('filter', view.asked.filter)
    if (view.asked.as_of) p.set('as_of', view.asked.as_of)
    for (const c of view.asked.collections ?? []) p.append('in', c)
  }
  const { place } = view
  let path = ''
  if (place) {
    if (view.asked) p.set('doc', place.id)
    else path = `documents/${encodeURIComponent(place.id)}`
    if (place.start !== undefined) p.set('start', String(place.start))
    if (place.end !== undefined) p.set('end', String(place.end))
  }
  const query = p.toString()
  return (path || (query ? '' : './')) + (query ? `?${query}` : '')
}

export const current = (): View => parse(window.location.pathname, window.location.search, base())
