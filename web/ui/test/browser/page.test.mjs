import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { asking, close, keyedSite, open, questions, rootedSite, site } from './chromium.mjs'

after(close)

const text = async (page, selector) => (await page.locator(selector).allInnerTexts()).join('\n')

/** Waits for the answer and returns its status line. */
async function answered(page) {
  await page.locator('.answer .status').waitFor()
  return page.locator('.answer .status').innerText()
}

test('the first screen says what is held, what is not, and where to begin', async () => {
  const { page, seen } = await open()
  await page.goto(site)
  await page.locator('.holdings').waitFor()
  const held = await text(page, '.holdings')
  assert.match(held, /78,405 events/)
  assert.match(held, /1982-01-01 to 2017-03-20/)
  assert.match(held, /not ingested: run\s+sextant ingest news/)
  assert.equal(await page.locator('.examples a').count(), 4)
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'question')
  await page.locator('.examples a').first().click()
  assert.equal(await answered(page), 'Answered')
  assert.equal(await page.locator('#question').inputValue(), questions.byYear)
  assert.equal(new URL(page.url()).searchParams.get('q'), questions.byYear)
  assert.deepEqual(seen.errors, [])
})

test('every way a question can end is named', async () => {
  const { page } = await open()
  for (const [name, status, also] of [
    ['answered', 'Answered', /carburetor ice/],
    ['partial', 'Answered in part', /Nothing was found on\s+the pilot’s hours/],
    ['noData', 'Nothing in the record matches', /injury severity is fatal\s+1/],
    ['notHeld', 'The record does not answer this', /Not held: regulations[\s\S]+sextant ingest ecfr --parts 1,61,91,121,135/],
    ['outOfScope', 'Outside what is held', /about aviation/],
    ['ambiguous', 'More than one reading', /How many accidents happened in DC in 2011/],
    ['exhausted', 'Stopped at its limits', /limit of 3 rounds/],
    ['unavailable', 'A source cannot be reached', /cannot be reached/],
    ['everything', 'Answered', /Done in a lesser way[\s\S]+cross-encoder/],
  ]) {
    await page.goto(asking(questions[name]))
    assert.equal(await answered(page), status, name)
    assert.match(await text(page, '.answer'), also, name)
  }
})

test('the ledger shows each condition with its words, its count and what is unknown', async () => {
  const { page } = await open()
  await page.goto(asking(questions.byYear))
  await answered(page)
  const ledger = await text(page, '.ledger')
  assert.match(ledger, /state is AK\s+change\s*from “Alaska”\s+5,388\s+4,285\s+1 would otherwise count/)
  assert.match(ledger, /date is in 2008 to 2012/)
  assert.match(ledger, /All together\s+5/)
  await page.goto(asking(questions.misread))
  await answered(page)
  const misread = await text(page, '.ledger')
  for (const part of [/comes with “SR22”/, /“Alasca” read as Alaska/, /from your further condition/, /“two toilets” was not applied/, /“Zesnaxx” stands nowhere[\s\S]+ZENIA/, /2021 lies after the data/]) assert.match(misread, part)
})

test('a condition set aside is counted without, and asked without when told to', async () => {
  const { page } = await open()
  await page.goto(asking(questions.noData))
  await answered(page)
  const state = page.getByRole('checkbox', { name: /state is VT/ })
  // The engine's own parser reads what the page writes.
  const counted = page.waitForResponse((r) => r.url().endsWith('/v1/count') && !r.request().postDataJSON().filter.includes('state'))
  await state.uncheck()
  assert.equal((await counted).status(), 200)
  assert.match(await text(page, '.ledger tfoot'), /With the 4 left/)
  assert.equal(await page.getByLabel('Asked without “Vermont”').inputValue(), 'How many fatal Cessna 172 accidents happened in 2016?')
  await state.check()
  assert.equal(await page.locator('.again').count(), 0)
  await state.uncheck()
  await page.getByRole('button', { name: 'Ask again' }).click()
  await page.waitForURL((u) => u.searchParams.get('q') === 'How many fatal Cessna 172 accidents happened in 2016?')
  assert.equal(await page.locator('#question').inputValue(), 'How many fatal Cessna 172 accidents happened in 2016?')
})

test('a condition is changed in place, counted at once, and asked as changed when told to', async () => {
  const { page } = await open()
  await page.goto(asking(questions.noData))
  await answered(page)
  await page.getByRole('button', { name: 'Change state' }).click()
  const value = page.getByLabel('Value of state')
  assert.equal(await value.inputValue(), 'VT')
  const counted = page.waitForResponse((r) => r.url().endsWith('/v1/count') && r.request().postDataJSON().filter.includes('state = "NH" and'))
  await value.fill('NH')
  assert.equal((await counted).status(), 200)
  assert.match(await text(page, '.ledger tfoot'), /As changed/)
  await value.fill('')
  assert.equal(await value.getAttribute('aria-invalid'), 'true')
  await value.fill('NH')
  await value.press('Enter')
  assert.match(await text(page, '.ledger tbody'), /state is NH/)
  await page.getByRole('button', { name: 'Ask again' }).click()
  await page.waitForURL((u) => u.searchParams.get('q') === 'How many fatal Cessna 172 accidents happened in 2016?' && u.searchParams.get('filter') === 'state = "NH"')
})

test('a condition can be made wider where nothing satisfies all', async () => {
  const { page } = await open()
  await page.goto(asking(questions.noData))
  await answered(page)
  await page.getByRole('button', { name: /model contains 17 / }).click()
  await page.waitForURL((u) => /model contains "17"/.test(u.searchParams.get('filter') ?? ''))
})

test('counts without a condition are shown only if they reconcile with the ledger', async () => {
  const { page } = await open()
  const asked = []
  await page.route('**/v1/count', async (route) => {
    const { filter } = route.request().postDataJSON()
    asked.push(filter)
    await route.fulfill({ json: { collection: 'incidents', filter, unit: 'documents', count: filter.includes('state') ? 0 : 12 } })
  })
  await page.goto(asking(questions.noData))
  await answered(page)
  await page.getByRole('checkbox', { name: /state is VT/ }).uncheck()
  await page.locator('.ledger tfoot', { hasText: 'With the 4 left 12' }).or(page.locator('tfoot tr:last-child td', { hasText: '12' })).first().waitFor()
  assert.ok(asked.includes('severity = "fatal" and make = "CESSNA" and model contains "172" and state = "VT" and event_date between "2016-01-01" and "2016-12-31"'))
  assert.ok(asked.includes('severity = "fatal" and make = "CESSNA" and model contains "172" and event_date between "2016-01-01" and "2016-12-31"'))
  await page.unroute('**/v1/count')
  await page.route('**/v1/count', (route) => route.fulfill({ json: { count: 7 } }))
  await page.getByRole('checkbox', { name: /date is in 2016/ }).uncheck()
  await page.locator('tfoot tr:last-child td', { hasText: 'ask to see' }).waitFor()
})

test('the smallest relaxations ask the question they stand for', async () => {
  const { page } = await open()
  await page.goto(asking(questions.noData))
  await answered(page)
  await page.getByRole('button', { name: /injury severity is fatal/ }).click()
  await page.waitForURL((u) => u.searchParams.get('q') === 'How many Cessna 172 accidents happened in Vermont in 2016?')
})

test('a quote opens its document at the quoted bytes', async () => {
  const { page } = await open()
  await page.goto(asking(questions.answered))
  await answered(page)
  await page.getByRole('link', { name: /temperature 14 °C, dew point 13 °C/ }).click()
  const mark = page.locator('dialog mark')
  await mark.waitFor()
  assert.equal(await mark.innerText(), 'temperature 14 °C, dew point 13 °C')
  assert.ok(await inView(mark))
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'document-title')
  assert.equal(new URL(page.url()).searchParams.get('doc'), 'ntsb:20100701X33001')
  // Another quote in the same document moves the mark; the answer was not asked again.
  await page.getByRole('link', { name: /heard the engine “cough” twice and stop/ }).click()
  await page.waitForFunction(() => document.querySelector('dialog mark')?.textContent === 'heard the engine “cough” twice and stop')
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  await page.goBack()
  await mark.waitFor()
})

test('closing a document gives the focus back to the link that opened it', async () => {
  const { page } = await open()
  await page.goto(asking(questions.answered))
  await answered(page)
  const link = page.getByRole('link', { name: /The carburetor heat control was found/ })
  await link.focus()
  await page.keyboard.press('Enter')
  await page.locator('dialog mark').waitFor()
  await page.getByRole('button', { name: 'Close the document' }).click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /carburetor heat control/)
})

test('deep links open a document at a place far down, by id or native id', async () => {
  const { page, seen } = await open()
  const response = await page.request.get(`${site}/v1/documents/ntsb:19960612X00099`)
  const doc = await response.json()
  const sentence = 'The left magneto — serial № 4471 — was found with its contact points welded.'
  const start = Buffer.byteLength(doc.text.slice(0, doc.text.indexOf(sentence)))
  for (const id of ['ntsb:19960612X00099', '19960612X00099']) {
    await page.goto(`${site}/documents/${id}?start=${start}&end=${start + Buffer.byteLength(sentence)}`)
    const mark = page.locator('dialog mark')
    await mark.waitFor()
    assert.equal(await mark.innerText(), sentence)
    assert.ok(await inView(mark))
  }
  await page.goto(`${site}/documents/ntsb:none`)
  await page.getByText('There is no document of that id.').waitFor()
  assert.ok(seen.errors.every((e) => e.includes('404')), String(seen.errors))
})

async function inView(locator) {
  return locator.evaluate((e) => {
    const box = e.getBoundingClientRect()
    return box.top >= 0 && box.bottom <= window.innerHeight
  })
}

test('computed values: figures, tables, records and the card behind them', async () => {
  const { page } = await open()
  await page.goto(asking(questions.byYear))
  await answered(page)
  assert.match(await text(page, '.headline'), /at least\s+5\s+events/)
  assert.deepEqual(await page.locator('.data tbody tr').allInnerTexts().then((rows) => rows.map((r) => r.trim().split(/\s+/).join(' '))), ['2008 1', '2009 1', '2010 2', '2011 0', '2012 1'])
  await page.getByText('How this was counted').click()
  const card = await text(page, '.method')
  for (const part of [/aircraft instead of events/, /2017-03-20/, /AviationData-2017/, /not recorded for 4,285/]) assert.match(card, part)
  await page.locator('.records a', { hasText: '20100701X33001' }).click()
  await page.locator('dialog .text').waitFor()
  await page.goto(asking(questions.top))
  await answered(page)
  const bars = await page.locator('.track > span').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().width))
  const share = bars.map((w) => Math.round((44 * w) / bars[0]))
  assert.deepEqual(share, [44, 19, 11, 6, 4], 'bars are as long as their figures say')
  assert.equal(await page.locator('.records li').count(), 12)
  await page.getByRole('button', { name: 'Show all 131' }).click()
  assert.equal(await page.locator('.records li').count(), 131)
  for (const [name, figure] of [['share', /50.0 %\s+1 of at least 2 events; 95 % interval 9.5 to 90.5 %/], ['first', /2002-04-16\s+of 498 events/], ['sum', /1,294\s+fatal count, in 1,851 events/], ['compare', /78\s+events/], ['list', /1,340\s+events/]]) {
    await page.goto(asking(questions[name]))
    await answered(page)
    assert.match(await text(page, '.headline'), figure, name)
  }
})

test('a long answer is shown as it arrives and can be stopped', async () => {
  const { page } = await open()
  await page.goto(asking(questions.slowly))
  await page.locator('.working .finding').nth(2).waitFor()
  assert.match(await text(page, '.ledger'), /All together/)
  assert.ok(await page.getByRole('checkbox', { name: /make is CESSNA/ }).isDisabled())
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Ask', exact: true }).count(), 1)
})

test('the trace of an answer can be seen, and judged', async () => {
  const { page, seen } = await open()
  await page.goto(asking(questions.answered))
  await answered(page)
  await page.locator('summary', { hasText: 'How it was answered' }).click()
  await page.getByRole('button', { name: 'show what happened' }).click()
  await page.locator('.trace li').first().waitFor()
  assert.match(await text(page, '.trace'), /agentic rag pipeline/)
  await page.locator('.trace summary').first().click()
  assert.match(await text(page, '.trace pre'), /What caused it\?/)
  await page.getByRole('button', { name: 'yes' }).click()
  await page.getByText('Kept with the trace: right.').waitFor()
  assert.deepEqual(seen.errors, [])
})

test('errors are told with what to do next', async () => {
  const { page } = await open()
  await page.goto(asking(questions.breaks))
  assert.match(await page.getByRole('alert').innerText(), /Something went wrong[\s\S]+under request/)
  await page.goto(asking('Anything at all?', '&filter=nonsense'))
  assert.match(await page.getByRole('alert').innerText(), /The filter cannot be read[\s\S]+sextant describe/)
  await page.route('**/v1/ask', (route) => route.abort())
  await page.goto(asking(questions.answered))
  assert.match(await page.getByRole('alert').innerText(), /cannot be reached[\s\S]+sextant serve/)
  await page.unroute('**/v1/ask')
  await page.route('**/v1/ask', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify({ title: 'Service Unavailable', status: 503, code: 'busy', detail: 'Too many questions are being answered right now.', hint: 'Try again in a moment.' }) }))
  await page.goto(asking(questions.answered))
  assert.match(await page.getByRole('alert').innerText(), /Too many questions[\s\S]+503/)
  await page.unroute('**/v1/ask')
  await page.route('**/v1/ask', (route) => route.fulfill({ contentType: 'text/event-stream', body: 'id: 1\nevent: stage_started\ndata: {"stage":"understand"}\n\n' }))
  await page.goto(asking(questions.answered))
  assert.match(await page.getByRole('alert').innerText(), /broke off/)
})

test('a condition of one’s own is counted while it is typed', async () => {
  const { page } = await open()
  await page.goto(site)
  await page.getByText('Narrow it down').click()
  await page.getByLabel('A further condition').fill('state = AK')
  await page.getByText('5,388 events satisfy it alone').waitFor()
  await page.getByLabel('A further condition').fill('stat = AK')
  await page.locator('.hint.wrong').waitFor()
  assert.match(await text(page, '.hint'), /cannot be read/)
  await page.getByLabel('A further condition').fill('state = AK')
  await page.getByLabel('Question', { exact: true }).fill('Who?')
  await page.getByLabel('Question', { exact: true }).press('Enter')
  await page.waitForURL((u) => u.searchParams.get('filter') === 'state = AK' && u.searchParams.get('q') === 'Who?')
})

test('a blank question is not asked', async () => {
  const { page, seen } = await open()
  await page.goto(site)
  await page.locator('.holdings').waitFor()
  await page.getByLabel('Question', { exact: true }).fill('   ')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  assert.ok(!seen.requests.some((r) => r.endsWith('/v1/ask')))
  assert.equal(new URL(page.url()).search, '')
})

test('copying gives the text with its citations', async () => {
  const { page, context } = await open()
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(asking(questions.answered))
  await answered(page)
  await page.getByRole('button', { name: 'Copy with citations' }).click()
  await page.getByText('copied').waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  for (const part of [/^What caused/, /Carburetor heat was off when the wreckage was examined\. \[1\]/, /\[1\] Cessna 172N, N733QX, Talkeetna, AK, 27 June 2010 \(ntsb:20100701X33001\)/, /all together: 1/, /http:\/\/127\.0\.0\.1:\d+\/\?q=What/]) assert.match(copied, part)
})

test('a server with a key asks for it, and keeps it out of addresses', async () => {
  const { page, seen } = await open()
  await page.goto(`${keyedSite}/?q=${encodeURIComponent(questions.answered)}`)
  await page.getByRole('heading', { name: 'This server needs a key' }).waitFor()
  await page.getByLabel('Key').fill('wrong')
  await page.getByRole('button', { name: 'Use it' }).click()
  await page.getByText('That key was not accepted.').waitFor()
  await page.getByLabel('Key').fill('browser-key')
  await page.getByRole('button', { name: 'Use it' }).click()
  assert.equal(await answered(page), 'Answered')
  assert.ok(!seen.requests.some((r) => r.includes('browser-key')))
})

test('under the path of a proxy everything is found', async () => {
  const { page, seen } = await open()
  await page.goto(`${rootedSite}/`)
  await page.locator('.examples a').first().click()
  assert.equal(await answered(page), 'Answered')
  await page.locator('.records a').first().click()
  await page.locator('dialog').waitFor()
  assert.ok(page.url().startsWith(`${rootedSite}/?q=`))
  await page.goto(`${rootedSite}/documents/ntsb:20100701X33001?start=0&end=5`)
  assert.equal(await page.locator('dialog mark').innerText(), 'Event')
  assert.ok(seen.requests.every((r) => r.startsWith(`${rootedSite}/`)), seen.requests.join('\n'))
})
