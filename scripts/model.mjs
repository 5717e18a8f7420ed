// npm run model: every interleaving of the transitions of a payment, within the full bounds; see docs/model.md.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()
const child = spawn(
  process.execPath,
  ['--max-old-space-size=3500', '--import', 'tsx', join('test', 'model', 'main.ts'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('close', (code) => {
  process.exitCode = code ?? 1
})
