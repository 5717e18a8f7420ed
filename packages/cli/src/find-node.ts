import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Terminal } from './terminal.ts'

export const defaultNode = 'http://127.0.0.1:4020'

/** The node that a command asks, by one name everywhere. */
export const nodeOption = ['--url <origin>', 'the node to ask', defaultNode] as const

/** The node that a command means when it names none, and why this one. */
export function findNode(env: NodeJS.ProcessEnv): { url: string; why: string | undefined } {
  const { ASSAY_URL, ASSAY_HOME = '.assay' } = env
  if (ASSAY_URL) return { url: ASSAY_URL, why: 'ASSAY_URL' }
  const running = runningIn(ASSAY_HOME)
  return running === undefined
    ? { url: defaultNode, why: undefined }
    : { url: running, why: `running in ${ASSAY_HOME}` }
}

/** The address of the node that runs in a data folder. What one left behind when it was killed is not believed. */
export function runningIn(home: string): string | undefined {
  try {
    const { url, pid } = JSON.parse(readFileSync(join(home, 'running.json'), 'utf8')) as {
      url?: unknown
      pid?: unknown
    }
    return typeof url === 'string' && URL.canParse(url) && typeof pid === 'number' && isAlive(pid) ? url : undefined
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Where no address was named, a command asks the node that it finds instead of the default address. */
export function askFoundNode(command: Command, terminal: Terminal): void {
  const names = command.options
    .filter(({ defaultValue }) => defaultValue === defaultNode)
    .map((one) => one.attributeName())
  if (names.length === 0) return
  command.hook('preAction', (_, action) => {
    if (names.some((name) => action.getOptionValueSource(name) !== 'default')) return
    const { url, why } = findNode(terminal.env)
    if (why === undefined) return
    for (const name of names) action.setOptionValueWithSource(name, url, 'env')
    terminal.say(`node: ${url} (${why})`)
  })
}
