// npm start: installs what is missing, then becomes the node. No build step.
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
const { loadJoined } = await import('./load-joined.mjs')
const { runNode } = await loadJoined('node')
await runNode()
