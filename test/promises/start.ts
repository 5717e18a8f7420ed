import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readyUrl } from '../../bench/process/ready-url.ts'
import { temporaryHome } from '../../bench/process/temporary-home.ts'
import { createFaults, type Proof, plain } from './proof.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
const withinMs = 60_000
const run = promisify(execFile)

/**
 * A newcomer has it running in a minute: what `npm start` does, on an empty folder, until `ready`, and the first purchase of
 * the README. `count` is how often, each with its own database and chains. Packages are installed already.
 */
export const proveQuickStart: Proof = async ({ count, say }) => {
  const faults = createFaults()
  const readyMs: number[] = []
  const boughtMs: number[] = []
  for (let times = 0; times < count; times += 1) {
    const home = await temporaryHome('assay-start-')
    const startedMs = performance.now()
    const node = spawn(process.execPath, [join(root, 'scripts/start.mjs')], {
      env: { ...process.env, ASSAY_HOME: home, PORT: '0', DEVNET_PORTS: '0,0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const url = await readyUrl(node)
      readyMs.push(performance.now() - startedMs)
      await buyFirst(url, home)
      boughtMs.push(performance.now() - startedMs)
      say(`  ready after ${plain(readyMs.at(-1) ?? 0)} ms, bought after ${plain(boughtMs.at(-1) ?? 0)} ms`)
    } finally {
      await ended(node)
      await rm(home, { recursive: true, force: true })
    }
  }
  const slowest = Math.max(...boughtMs)
  if (slowest > withinMs) faults.note(`the first purchase was made after ${plain(slowest)} ms`)
  return {
    seen: `${plain(count)} starts on an empty folder: ready after at most ${plain(Math.max(...readyMs) / 1000, 1)} s, a first answer bought and verified after ${plain(slowest / 1000, 1)} s`,
    faults: faults.all(),
  }
}

/** As the README has it; it ends well only if signature and receipt are. */
async function buyFirst(url: string, home: string): Promise<void> {
  const assay = join(root, 'packages/cli/bin/assay.mjs')
  const resource = `${url}/v1/sandbox/echo?message=hello`
  const { stdout } = await run(process.execPath, [assay, 'buy', resource, '--demo'], {
    env: { ...process.env, ASSAY_HOME: home },
  })
  if (!stdout.includes('hello')) throw new Error(`the first purchase gave ${stdout.slice(0, 500)}`)
}

function ended(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    node.once('exit', () => resolve())
    node.kill('SIGTERM')
  })
}
