import 'uplot/dist/uPlot.min.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/pages.css'
import { render } from 'preact'
import { App } from './app/app.tsx'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
