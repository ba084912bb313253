import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'

interface Props {
  text: string | (() => string)
  label?: string
  class?: string
  children: ComponentChildren
}

/** Copies, and says so for a moment; says, too, if the browser does not let it. */
export function CopyButton({ text, label, class: name = 'quiet', children }: Props) {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (!said) return
    const wait = setTimeout(() => setSaid(''), 1800)
    return () => clearTimeout(wait)
  }, [said])
  const copy = () => {
    const content = typeof text === 'string' ? text : text()
    write(content).then(
      () => setSaid('copied'),
      () => setSaid('not allowed to copy'),
    )
  }
  return (
    <button type="button" class={name} aria-label={said ? undefined : label} onClick={copy}>
      <span aria-live="polite">{said || children}</span>
    </button>
  )
}

/** The clipboard of the browser, or on plain http, where there is none, a selection. */
async function write(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'spoken'
  document.body.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (!done) throw new Error('copy was refused')
}
