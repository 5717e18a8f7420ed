import { systemClock } from '@assay/till/kernel/clock'
import { ConfigError } from '@assay/till/kernel/config-error'
import { pino } from 'pino'
import { createLog } from './http/index.ts'
import { type RunningNode, startNode } from './node.ts'
import { noteRunning } from './running-file.ts'
import { parseConfig } from './shop-list.ts'
import { startSummary } from './start-summary.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
const complain = (text: string) => process.stderr.write(`${text}\n`)

/** The process: configuration, start, `ready`, drain on a signal. */
export async function runNode(env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const startedMs = systemClock.monotonicMs()
  let node: RunningNode | undefined
  let forget: (() => Promise<void>) | undefined
  let stopping: Promise<void> | undefined
  const stop = (why: string, code: number) => {
    stopping ??= (async () => {
      complain(`\n${why}: finishing what is under way ...`)
      await forget?.()
      await node?.stop()
      process.exitCode = code
      complain('stopped')
    })()
  }
  // Registered before the start, so that an impatient Ctrl-C still stops the database in order.
  process.on('SIGINT', () => stop('Ctrl-C', 0))
  process.on('SIGTERM', () => stop('SIGTERM', 0))
  try {
    const config = parseConfig(env)
    // Logs go to standard error: the last line on standard output stays `ready <url>`.
    const log = createLog({ level: config.logLevel, destination: pino.destination({ dest: 2, sync: false }) })
    node = await startNode(config, {
      log,
      warm: true,
      acceptors: 8,
      onProgress: (text) => complain(`  ${text}`),
      onLost: (reason) => stop(reason, 1),
    })
    if (stopping) return await node.stop()
    forget = await noteRunning(config.home, node.address)
    say(startSummary(node, (systemClock.monotonicMs() - startedMs) / 1000))
    say(`ready ${node.url}`)
  } catch (error) {
    complain(
      error instanceof ConfigError
        ? error.message
        : `Assay could not start: ${error instanceof Error ? error.message : String(error)}${startHint(error)}`,
    )
    process.exitCode = 1
  }
}

function startHint(error: unknown): string {
  const { code, port } = (error ?? {}) as { code?: unknown; port?: unknown }
  if (code === 'EADDRINUSE')
    return `\nPort ${port} is taken, perhaps by another node: set PORT (or DEVNET_PORTS for the chains), or 0 for any free one.`
  return code === 'EACCES'
    ? '\nThis user may not listen there: set PORT to one above 1023, or put a proxy in front.'
    : ''
}
