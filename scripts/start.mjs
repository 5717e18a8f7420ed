// npm start: installs what is missing, then becomes the node. No build step.
import { setFlagsFromString } from 'node:v8'
import { installIfMissing } from './install-if-missing.mjs'

// On a machine with much memory the heap would otherwise grow to four times what is in use before anything is collected. A
// demo shares the machine with its chains and its user; in production memory is there to be used.
if (process.env['ASSAY_MODE'] !== 'production') setFlagsFromString('--heap-growing-percent=120')
// The allocator inside the embedded chains keeps what was freed, in huge pages, unless its settings say otherwise before it is loaded.
const chainMemory = { PURGE_DELAY: 0, ARENA_EAGER_COMMIT: 0, ALLOW_LARGE_OS_PAGES: 0 }
for (const [name, value] of Object.entries(chainMemory)) process.env[`MIMALLOC_${name}`] ??= String(value)
installIfMissing()
if (process.stderr.isTTY) process.stderr.write('  loading the node\n')
const { loadJoined } = await import('./load-joined.mjs')
const { runNode } = await loadJoined('node')
await runNode()
