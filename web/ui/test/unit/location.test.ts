import assert from 'node:assert/strict'
import { test } from 'node:test'

import { format, parse, type View } from '../../src/location.ts'

const views: View[] = [
  {},
  { asked: { question: 'What & why? #1 é' } },
  { asked: { question: 'Any?', filter: 'state = AK', as_of: '2012-07-04', collections: ['incidents', 'news'] } },
  { place: { id: 'ntsb:1', start: 3, end: 9 } },
  { place: { id: 'feed:https://x.example/a?b=1#c d%2F', start: undefined, end: undefined } },
  { asked: { question: 'Any?' }, place: { id: 'file:a/b c.pdf', start: 0, end: 5 } },
]

test('what is written into the address is read back', () => {
  for (const root of ['/', '/apps/sextant/']) {
    for (const view of views) {
      const url = new URL(format(view), `http://localhost${root}`)
      const got = parse(url.pathname, url.search, root)
      const want = view.place ? { ...view, place: { start: undefined, end: undefined, ...view.place } } : view
      assert.deepEqual(got, want, url.href)
    }
  }
})

test('addresses that say nothing useful are harmless', () => {
  assert.deepEqual(parse('/', '?q=%20%20&start=1'), {})
  assert.deepEqual(parse('/documents/', ''), {})
  assert.deepEqual(parse('/documents/%E0%A4%A', '?start=-1&end=x').place, { id: '%E0%A4%A', start: undefined, end: undefined })
})
