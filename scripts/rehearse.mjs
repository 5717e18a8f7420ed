// npm run rehearse: an operator's first day in production mode; see docs/rehearsal.md.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { installIfMissing, root } from './install-if-missing.mjs'

installIfMissing()
const child = spawn(process.execPath, ['--import', 'tsx', join('rehearse', 'main.ts'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('close', (code) => {
  process.exitCode = code ?? 1
})
