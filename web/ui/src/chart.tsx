import { useId } from 'preact/hooks'

import { figure, words } from './figures.ts'
import type { Computed } from './wire.ts'

// Rows in time as columns, drawn as the CLI draws them: from zero, partial periods hollow,
// breaks marked, the part that must not be mixed in a colour of its own. The table below
// says the same in figures, so that to a reader of the page's text this is a picture.

const [width, height, left, top, bottom] = [900, 260, 56, 16, 34]

interface Column {
  key: string
  value: number
  inside?: number | undefined
  partial: boolean
}

/** Years and months in a row say something as a picture; other rows have bars in their table. */
export function drawable(c: Computed): boolean {
  const rows = c.rows ?? []
  return c.kind !== 'list' && rows.length >= 3 && rows.every((r) => typeof r[0] === 'string' && /^\d{4}(-\d{2}|-Q\d)?$/.test(r[0]) && typeof r[1] === 'number')
}

/** The columns of a figure, years without a row among them. */
export function columns(c: Computed): Column[] {
  const at = (c.columns ?? []).findIndex((name, i) => i >= 2 && name.startsWith('in '))
  const partial = new Set(c.partial ?? [])
  const out: Column[] = []
  for (const row of c.rows ?? []) {
    const key = String(row[0])
    const before = out.at(-1)?.key
    if (before && /^\d{4}$/.test(before) && /^\d{4}$/.test(key)) {
      for (let y = Number(before) + 1; y < Number(key); y++) out.push({ key: String(y), value: 0, partial: false })
    }
    const inside = at >= 0 ? row[at] : undefined
    out.push({ key, value: Number(row[1]), inside: typeof inside === 'number' ? inside : undefined, partial: partial.has(key) })
  }
  return out
}

/** 1, 2 or 5 times a power of ten, at least four of which reach v. */
export function step(v: number): number {
  if (v <= 4) return 1
  const power = 10 ** Math.floor(Math.log10(v / 4))
  return [5, 2, 1].map((m) => m * power).find((s) => v / s >= 4) ?? power
}

export function Chart({ computed: c }: { computed: Computed }) {
  const title = useId()
  const bars = columns(c)
  const most = Math.max(...bars.map((b) => b.value), 1)
  const unit = step(most)
  const ceiling = Math.ceil(most / unit) * unit
  const y = (v: number) => height - bottom - (v / ceiling) * (height - top - bottom)
  const slot = (width - left) / bars.length
  const every = Math.max(Math.ceil(46 / slot), 1)
  const lines = Array.from({ length: Math.round(ceiling / unit) + 1 }, (_, i) => i * unit)
  const inside = c.columns?.find((name, i) => i >= 2 && name.startsWith('in '))
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-labelledby={title}>
        <title id={title}>{`${c.title}, by ${words(c.group_by ?? '')}`}</title>
        {lines.map((v) => (
          <g key={v}>
            <line class="grid" x1={left} x2={width} y1={y(v)} y2={y(v)} />
            <text class="axis end" x={left - 6} y={y(v) + 4}>
              {figure(v)}
            </text>
          </g>
        ))}
        {bars.map((b, i) => {
          const place = { x: left + slot * (i + 0.15), width: slot * 0.7 }
          const look = b.partial ? 'hollow' : ''
          return (
            <g key={b.key}>
              <rect class={`${b.inside === undefined ? 'bar' : 'rest'} ${look}`} {...place} y={y(b.value)} height={y(0) - y(b.value)}>
                <title>{`${b.key}: ${figure(b.value)}${b.partial ? ' (partial)' : ''}`}</title>
              </rect>
              {b.inside !== undefined && (
                <rect class={`bar ${look}`} {...place} y={y(b.inside)} height={y(0) - y(b.inside)}>
                  <title>{`${b.key}: ${figure(b.inside)} of ${figure(b.value)} ${inside ?? ''}`}</title>
                </rect>
              )}
              {i % every === 0 && (
                <text class="axis middle" x={left + slot * (i + 0.5)} y={height - bottom + 18}>
                  {b.key}
                </text>
              )}
            </g>
          )
        })}
        {(c.breaks ?? []).map((b) => {
          const i = bars.findIndex((bar) => bar.key === b.key)
          return i < 0 ? null : (
            <line key={b.key + b.field} class="break" x1={left + slot * i} x2={left + slot * i} y1={top - 8} y2={height - bottom}>
              <title>{b.why}</title>
            </line>
          )
        })}
      </svg>
      <figcaption class="small">
        {inside && (
          <>
            <span class="key bar" /> {inside} <span class="key rest" /> the rest{' '}
          </>
        )}
        {c.partial && c.partial.length > 0 && (
          <>
            <span class="key hollow" /> partial: no rise and no fall
          </>
        )}
      </figcaption>
    </figure>
  )
}
