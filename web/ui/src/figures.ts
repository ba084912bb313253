// How numbers, dates and words of the wire are written for people.

const whole = new Intl.NumberFormat('en-US')

export const figure = (n: number): string => whole.format(n)

/** Seconds below a minute with one decimal, milliseconds below a second. */
export function duration(ms: number): string {
  if (ms < 1) return 'under 1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  return `${(ms / 1000).toFixed(1)} s`
}

/** snake_case as words. */
export const words = (name: string): string => name.replaceAll('_', ' ')

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A span of days, shortened to years or months where it is made of whole ones. */
export function span(from: string, to: string): string {
  if (from === to) return from
  const [fromYear, fromDay] = [from.slice(0, 4), from.slice(4)]
  const [toYear, toDay] = [to.slice(0, 4), to.slice(4)]
  if (fromDay === '-01-01' && toDay === '-12-31') return fromYear === toYear ? fromYear : `${fromYear} to ${toYear}`
  const month = from.slice(0, 7)
  if (month === to.slice(0, 7) && from.endsWith('-01') && to === lastDay(month)) return month
  return `${from} to ${to}`
}

function lastDay(month: string): string {
  const [year, m] = month.split('-').map(Number)
  return `${month}-${new Date(Date.UTC(year!, m!, 0)).getUTCDate()}`
}

/** The noun for n of something; labels of the wire are plurals. */
export function counted(n: number, plural: string): string {
  const one = n === 1 && /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural
  return `${figure(n)} ${one}`
}

export function list(items: string[], conjunction = 'and'): string {
  if (items.length < 2) return items.join('')
  return `${items.slice(0, -1).join(', ')} ${conjunction} ${items.at(-1)}`
}
