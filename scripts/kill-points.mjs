// npm run kill-points: processes and the database server killed in the middle of money; see docs/simulation.md.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()
const child = spawn(
  process.execPath,
  ['--import', 'tsx', join('test', 'kill-points', 'main.ts'), ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('close', (code) => {
  process.exitCode = code ?? 1
})
