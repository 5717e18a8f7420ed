import { spawn } from 'node:child_process'
import { installIfMissing, root } from './install-if-missing.mjs'

/** Runs a TypeScript program of this repository with the arguments of this process, after installing what is missing. */
export function runProgram(path, nodeOptions = []) {
  installIfMissing()
  const args = [...nodeOptions, '--import', 'tsx', path, ...process.argv.slice(2)]
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  child.on('close', (code) => {
    process.exitCode = code ?? 1
  })
}
