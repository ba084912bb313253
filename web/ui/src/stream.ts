// Server-sent events over fetch: EventSource cannot POST.

import type { ServerEvent } from './wire.ts'

export interface RawEvent {
  id: string
  name: string
  data: string
}

/**
 * Splits a stream into events as WHATWG HTML section 9.2 says: lines end with LF, CR or
 * CRLF, comments are dropped, several data lines are joined, and what has no blank line
 * after it is no event. Feed it text in pieces of any size.
 */
export class EventParser {
  private rest = ''
  private event: RawEvent = { id: '', name: '', data: '' }
  private hasData = false

  push(text: string): RawEvent[] {
    const out: RawEvent[] = []
    let buffer = this.rest + text
    // A CR at the end may be the first half of a CRLF.
    const held = buffer.endsWith('\r') ? '\r' : ''
    if (held) buffer = buffer.slice(0, -1)
    const lines = buffer.split(/\r\n|\n|\r/)
    this.rest = lines.pop()! + held
    for (const line of lines) {
      if (line !== '') {
        this.field(line)
        continue
      }
      if (this.hasData) out.push(this.event)
      this.event = { id: this.event.id, name: '', data: '' }
      this.hasData = false
    }
    return out
  }

  private field(line: string): void {
    const colon = line.indexOf(':')
    if (colon === 0) return
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'data') {
      this.event.data = this.hasData ? `${this.event.data}\n${value}` : value
      this.hasData = true
    } else if (name === 'event') this.event.name = value
    else if (name === 'id') this.event.id = value
  }
}

/** The events of a response, in order; ends with the response. */
export async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parser = new EventParser()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      for (const e of parser.push(decoder.decode(value, { stream: true }))) {
        yield { name: e.name, data: JSON.parse(e.data) } as ServerEvent
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
