// The browser of the tests: the system's Chromium, which may talk to the sites under
// test and to nothing else.

import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

const found = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']
const executablePath = found.find((path) => path && existsSync(path))
if (!executablePath) throw new Error('No Chromium found; install it or name it in CHROMIUM.')

const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1']

export const site = need('SITE')
export const keyedSite = need('KEYED_SITE')
export const rootedSite = need('ROOTED_SITE')
export const hostileQuestion = need('HOSTILE_QUESTION')
export const hostileId = need('HOSTILE_ID')

function need(name) {
  if (!process.env[name]) throw new Error(`${name} is not set; these tests are run by go test -run TestBrowser ./httpapi`)
  return process.env[name]
}

let browser

/** Opens a page that remembers everything that must not happen: dialogs, errors, requests elsewhere. */
export async function open(options = {}) {
  browser ??= await chromium.launch({ executablePath, args })
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  const seen = { dialogs: [], errors: [], requests: [] }
  page.on('dialog', (d) => {
    seen.dialogs.push(d.message())
    void d.dismiss()
  })
  page.on('pageerror', (e) => seen.errors.push(String(e)))
  page.on('console', (m) => m.type() === 'error' && seen.errors.push(m.text()))
  page.on('request', (r) => seen.requests.push(r.url()))
  return { page, context, seen }
}

export async function close() {
  await browser?.close()
  browser = undefined
}

export const asking = (question, more = '') => `${site}/?q=${encodeURIComponent(question)}${more}`

export const questions = {
  answered: 'What caused the Cessna 172 accident at Talkeetna on 27 June 2010?',
  byYear: 'How many fatal Cessna 172 accidents happened in Alaska between 2008 and 2012, by year?',
  partial: 'Why did N733QX lose power, and how many hours did the pilot have?',
  noData: 'How many fatal Cessna 172 accidents happened in Vermont in 2016?',
  notHeld: 'What does 14 CFR 91.103 require before a flight?',
  outOfScope: 'Who won the 1998 World Cup?',
  ambiguous: 'How many accidents happened in Washington in 2011?',
  exhausted: 'What do fatal stalls on base to final since 1982 have in common?',
  unavailable: 'What does the news say about icing?',
  everything: 'Was the flight at Talkeetna legal, and do the sources agree?',
  misread: 'Cesna SR22 accidents in Alasca near Zesnaxx with two toilets',
  list: 'List the accidents in Texas from 2010 to 2014.',
  compare: 'Were there more fatal accidents with Cessnas or Pipers in 2010?',
  top: 'Which five makes had the most accidents in Texas in 2014?',
  share: 'What share of helicopter accidents in 1995 was fatal?',
  first: 'When was the first SR22 accident?',
  sum: 'How many people died in accidents in 2006?',
  slowly: 'What caused it, answered slowly?',
  breaks: 'What breaks?',
}
