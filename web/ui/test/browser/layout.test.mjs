// Accessibility by axe-core, and the widths from 360 px up, over every kind of screen.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, test } from 'node:test'

import { asking, close, hostileQuestion, open, questions, site } from './chromium.mjs'

after(close)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const screens = {
  start: site,
  document: `${site}/documents/ntsb:20100701X33001?start=619&end=723`,
  beside: asking(questions.answered, '&doc=ntsb:20100815X44002&start=0&end=5'),
  hostile: asking(hostileQuestion),
  ...Object.fromEntries(Object.entries(questions).filter(([name]) => name !== 'slowly').map(([name, q]) => [name, asking(q)])),
}

const unfold = () => document.querySelectorAll('details').forEach((d) => (d.open = true))

async function settle(page) {
  await page.locator('.holdings, .answer, [role=alert]').first().waitFor()
  if (page.url().includes('doc')) await page.locator('dialog .text').waitFor()
}

// Only colours differ in the dark, and these screens have them all.
const rules = { light: Object.keys(screens), dark: ['start', 'beside', 'everything', 'noData', 'top', 'misread', 'breaks'] }

for (const [colorScheme, names] of Object.entries(rules)) {
  test(`axe finds nothing, ${colorScheme}`, async () => {
    // The page's own policy would refuse axe's script; it is another test's business.
    const { page } = await open({ colorScheme, bypassCSP: true })
    for (const name of names) {
      await page.goto(screens[name])
      await settle(page)
      await page.evaluate(unfold)
      if (name === 'noData') await page.getByRole('checkbox').first().uncheck()
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
      assert.deepEqual(
        violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).slice(0, 3).join(' | ')}`),
        [],
        name,
      )
    }
  })
}

const widths = [360, 412, 768, 1120, 1440]

test(`no page scrolls sideways at ${widths.join(', ')} px`, async () => {
  const { page } = await open({ viewport: { width: 360, height: 740 } })
  for (const [name, url] of Object.entries(screens)) {
    await page.goto(url)
    await settle(page)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 740 })
      if (url.includes('doc')) {
        await page.reload() // where a document opens depends on the width at that moment
        await settle(page)
      }
      await page.evaluate(unfold)
      const over = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll('dialog')].map((e) => e.scrollWidth - e.clientWidth))
      assert.ok(
        over.every((px) => px <= 0),
        `${name} is ${over} px too wide at ${width}`,
      )
    }
  }
})

test('the reader’s place is kept while an answer streams in, and the question stays in reach', async () => {
  const { page } = await open({ viewport: { width: 360, height: 560 } })
  let send
  const parts = new Promise((resolve) => (send = resolve))
  await page.exposeFunction('parts', () => parts)
  // A stream of 200 KB in many pieces, fed by the test.
  await page.addInitScript(() => {
    const real = window.fetch
    window.fetch = async (url, init) => {
      if (!String(url).endsWith('v1/ask')) return real(url, init)
      const finding = (i) => ({ text: `Finding ${i}. ${'It was examined and found in order. '.repeat(55)}`, quotes: [], source: 'incidents', confidence: 'high' })
      const body = new ReadableStream({
        async start(c) {
          const put = (name, data) => c.enqueue(new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`))
          for (let i = 0; i < 40; i++) put('delta', { finding: finding(i) })
          await window.parts()
          for (let i = 40; i < 100; i++) {
            put('delta', { finding: finding(i) })
            await new Promise((r) => setTimeout(r, 5))
          }
        },
      })
      return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
    }
  })
  await page.goto(asking('A long one?'))
  await page.locator('.finding').nth(39).waitFor()
  await page.evaluate(() => window.scrollTo(0, 4000))
  const before = await page.evaluate(() => window.scrollY)
  send()
  await page.locator('.finding').nth(99).waitFor()
  assert.equal(await page.evaluate(() => window.scrollY), before)
  await page.locator('#question').scrollIntoViewIfNeeded()
  await page.locator('#question').fill('Another?')
})

test('everything is reached by keyboard, with a visible focus', async () => {
  const { page } = await open()
  await page.goto(asking(questions.byYear))
  await page.locator('.answer').waitFor()
  const reached = new Set()
  for (let i = 0; i < 40; i++) {
    await page.keyboard.press('Tab')
    const focus = await page.evaluate(() => {
      const e = document.activeElement
      const style = getComputedStyle(e)
      const line = getComputedStyle(e.closest('.ask-line') ?? e)
      return { what: `${e.tagName} ${e.textContent || e.id || e.type}`.trim(), ring: style.outlineStyle !== 'none' || line.borderBottomColor !== '' }
    })
    if (focus.what.startsWith('BODY')) break
    assert.ok(focus.ring, `no focus to see on ${focus.what}`)
    reached.add(focus.what)
  }
  for (const part of [/^INPUT/, /^BUTTON Ask/, /Copy with citations/, /How this was counted/, /20100701X33001/]) assert.ok([...reached].some((r) => part.test(r)), `${part} is not reached: ${[...reached].join('; ')}`)
})
