// npm start: installs what is missing, then becomes the node. No build step.
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
if (process.stderr.isTTY) process.stderr.write('  loading the node\n')
const { loadJoined } = await import('./load-joined.mjs')
const { runNode } = await loadJoined('node')
await runNode()
