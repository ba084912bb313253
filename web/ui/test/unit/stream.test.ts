import assert from 'node:assert/strict'
import { test } from 'node:test'

import { events, EventParser } from '../../src/stream.ts'

const wire = 'id: 1\nevent: delta\ndata: {"text":"§ 91.409 – é 飞 👩‍✈️"}\n\n: still working\n\nid: 2\nevent: final\ndata: {"a":\ndata: 1}\n\n'

test('a stream in pieces of any size gives the same events', () => {
  const whole = new EventParser().push(wire)
  assert.deepEqual(whole, [
    { id: '1', name: 'delta', data: '{"text":"§ 91.409 – é 飞 👩‍✈️"}' },
    { id: '2', name: 'final', data: '{"a":\n1}' },
  ])
  for (const text of [wire, wire.replaceAll('\n', '\r\n'), wire.replaceAll('\n', '\r')]) {
    for (let size = 1; size <= 7; size++) {
      const parser = new EventParser()
      const got = []
      for (let i = 0; i < text.length; i += size) got.push(...parser.push(text.slice(i, i + size)))
      got.push(...parser.push('\n'))
      assert.deepEqual(got, whole, `pieces of ${size}`)
    }
  }
})

test('what has no blank line after it is no event', () => {
  assert.deepEqual(new EventParser().push('event: final\ndata: {}\n'), [])
})

test('fields without a colon, unknown fields and comments', () => {
  assert.deepEqual(new EventParser().push(':c\nretry: 5\nfoo\ndata\ndata:x\n\n'), [{ id: '', name: '', data: '\nx' }])
  assert.deepEqual(new EventParser().push('event: nothing\n\n'), [])
})

test('characters split between chunks are put together', async () => {
  const bytes = new TextEncoder().encode(wire.replace('{"a":\ndata: 1}', '{"a":1}'))
  const body = new ReadableStream<Uint8Array>({
    start(c) {
      for (const b of bytes) c.enqueue(Uint8Array.of(b))
      c.close()
    },
  })
  const got = []
  for await (const e of events(body)) got.push(e)
  assert.deepEqual(got, [
    { name: 'delta', data: { text: '§ 91.409 – é 飞 👩‍✈️' } },
    { name: 'final', data: { a: 1 } },
  ])
})
