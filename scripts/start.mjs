// npm start: installs what is missing, then becomes the node. No build step.
import { setFlagsFromString } from 'node:v8'
import { installIfMissing } from './install-if-missing.mjs'

// On a machine with much memory the heap would otherwise grow to four times what is in use before anything is collected.
setFlagsFromString('--heap-growing-percent=60')
installIfMissing()
if (process.stderr.isTTY) process.stderr.write('  loading the node\n')
const { loadJoined } = await import('./load-joined.mjs')
const { runNode } = await loadJoined('node')
await runNode()
