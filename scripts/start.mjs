// npm start: installs what is missing, then becomes the node. No build step.
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
const { loadNode } = await import('./load-node.mjs')
const { runNode } = await loadNode()
await runNode()
