import 'uplot/dist/uPlot.min.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/layout.css'
import './styles/parts.css'
import './styles/shared.css'
import './styles/pages/start.css'
import './styles/pages/token.css'
import './styles/pages/matrix.css'
import './styles/pages/sources.css'
import './styles/pages/stream.css'
import './styles/pages/options.css'
import './styles/pages/verify.css'
import './styles/pages/operator.css'
import { render } from 'preact'
import { App } from './app/app.tsx'

const root = document.getElementById('app')
if (root !== null) render(<App />, root)
