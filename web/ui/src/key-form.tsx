import { useState } from 'preact/hooks'

import { setKey } from './api.ts'

/** Asks for the server's key; it stays in this tab. */
export function KeyForm({ refused, onKey }: { refused: boolean; onKey: () => void }) {
  const [key, setText] = useState('')
  const submit = (e: Event) => {
    e.preventDefault()
    setKey(key.trim())
    onKey()
  }
  return (
    <form class="key-form" onSubmit={submit}>
      <h2>This server needs a key</h2>
      <p>{refused ? 'That key was not accepted. ' : ''}Whoever runs it can give you one. It is kept for this tab only.</p>
      <div class="ask-line">
        <label for="key" class="spoken">
          Key
        </label>
        <input id="key" type="password" class="code" autocomplete="off" value={key} onInput={(e) => setText(e.currentTarget.value)} />
        <button type="submit" class="button primary">
          Use it
        </button>
      </div>
    </form>
  )
}
