import './style/base.css'
import './style/page.css'
import './style/ledger.css'
import './style/answer.css'
import './style/document.css'

import { render } from 'preact'

import { App } from './app.tsx'

render(<App />, document.getElementById('page')!)
