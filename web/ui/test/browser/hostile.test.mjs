// UI01: markup in every field of answers, documents and descriptions is text.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { asking, close, hostileId, hostileQuestion, open, site } from './chromium.mjs'

after(close)

/** Nothing of what a payload would do has happened. */
async function harmless(page, seen) {
  await page.waitForTimeout(250) // an onerror would have fired by now
  assert.deepEqual(seen.dialogs, [])
  // The hostile collection does not exist, so that counting in it is a 404.
  assert.deepEqual(seen.errors.filter((e) => !e.includes('404')), [])
  assert.deepEqual(seen.requests.filter((r) => /hostile-(image|bold|code|mermaid|id)(?!.*start=)/.test(new URL(r).pathname) && !r.includes('/documents/')), [])
  assert.ok(!(await page.title()).includes('owned'))
  const foreign = await page.evaluate(() => document.querySelectorAll('main img, main svg, main iframe, main script, dialog img, dialog svg, dialog iframe, dialog script, a[href^="javascript:"]').length)
  assert.equal(foreign, 0)
}

test('an answer full of markup', async () => {
  const { page, seen } = await open()
  await page.goto(asking(hostileQuestion))
  await page.locator('.answer .status').waitFor()
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => (d.open = true)))
  const shown = await page.locator('main').innerText()
  for (const payload of ['<img src=/hostile-image onerror="alert(1)">', '<iframe srcdoc=', '**<img src=/hostile-bold', "<script>fetch('/hostile-code')</script>", '[click](javascript:alert(5))', '{{constructor.constructor']) assert.ok(shown.includes(payload), payload)
  await page.getByRole('checkbox').first().uncheck()
  await page.locator('.again input').waitFor()
  await harmless(page, seen)
})

test('a document full of markup, by its hostile id', async () => {
  const { page, seen } = await open()
  await page.goto(asking(hostileQuestion))
  await page.locator('.quote a').first().click()
  const mark = page.locator('dialog mark')
  await mark.waitFor()
  assert.match(await mark.innerText(), /^<iframe srcdoc=/)
  await page.getByText('Recorded fields').click()
  await harmless(page, seen)
  await page.goto(`${site}/documents/${encodeURIComponent(hostileId)}`)
  await page.locator('dialog .text').waitFor()
  await harmless(page, seen)
})

test('problems and descriptions full of markup', async () => {
  const { page, seen } = await open()
  const bad = '<img src=/hostile-image onerror=alert(1)>'
  await page.route('**/v1/collections', (r) => r.fulfill({ json: { collections: [{ name: 'x', title: bad, unit: bad, documents: 1, data_date: bad, fill: bad }, { name: 'y', title: bad, unit: bad, documents: 0, fill: bad }] } }))
  await page.route('**/v1/collections/x', (r) => r.fulfill({ json: { name: 'x', fields: [{ name: bad, label: bad, kind: 'keyword' }], examples: [bad] } }))
  await page.goto(site)
  await page.locator('.examples a').waitFor()
  await harmless(page, seen)
  await page.route('**/v1/ask', (r) => r.fulfill({ status: 400, contentType: 'application/problem+json', body: JSON.stringify({ title: bad, status: 400, detail: bad, hint: bad, code: bad }) }))
  await page.locator('.examples a').click()
  await page.getByRole('alert').waitFor()
  seen.errors = seen.errors.filter((e) => !e.includes('400'))
  await harmless(page, seen)
})

test('the policy stops script that should ever get in', async () => {
  const { page, seen } = await open()
  await page.goto(site)
  await page.locator('.holdings').waitFor()
  const blocked = await page.evaluate(async () => {
    const violations = []
    document.addEventListener('securitypolicyviolation', (e) => violations.push(e.effectiveDirective))
    const image = new Image()
    image.src = 'https://elsewhere.example/pixel'
    const refused = (f) => {
      try {
        f()
        return false
      } catch {
        return true
      }
    }
    const markup = refused(() => (document.querySelector('main').innerHTML = '<b>x</b>'))
    const handler = refused(() => document.querySelector('main').setAttribute('onclick', 'window.owned = true'))
    const script = document.createElement('script')
    refused(() => (script.textContent = 'window.owned = true'))
    script.append('window.owned = true')
    document.body.append(script)
    await new Promise((r) => setTimeout(r, 200))
    return { violations, markup, handler, owned: Boolean(window.owned) }
  })
  assert.deepEqual([blocked.markup, blocked.handler, blocked.owned], [true, true, false])
  for (const directive of ['img-src', 'require-trusted-types-for']) assert.ok(blocked.violations.includes(directive), `${directive} in ${blocked.violations}`)
  assert.deepEqual(seen.dialogs, [])
})
