// Writes dist/SOURCES: hashes of what the page was built from and of what came out. A Go
// test (web/page_test.go) computes both again, so that neither can change alone.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ui = fileURLToPath(new URL('..', import.meta.url))
const dist = join(ui, '..', 'dist')
const sources = ['index.html', 'package.json', 'package-lock.json', 'tsconfig.json', 'vite.config.ts', 'public', 'src', 'scripts']

function files(path) {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((e) => files(join(path, e.name)))
  } catch (e) {
    if (e.code === 'ENOTDIR') return [path]
    throw e
  }
}

/** Hash over names and contents, names sorted by byte. */
function hash(root, paths) {
  const names = paths.map((p) => relative(root, p).replaceAll('\\', '/'))
  const sum = createHash('sha256')
  for (const name of names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    const content = createHash('sha256').update(readFileSync(join(root, name))).digest('hex')
    sum.update(`${content}  ${name}\n`)
  }
  return sum.digest('hex')
}

const from = hash(ui, sources.flatMap((s) => files(join(ui, s))))
const built = hash(dist, files(dist).filter((f) => relative(dist, f) !== 'SOURCES'))
writeFileSync(join(dist, 'SOURCES'), `sources ${from}\nbuilt ${built}\n`)
