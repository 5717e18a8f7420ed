import { systemClock } from '@assay/till/kernel/clock'
import { ConfigError } from '@assay/till/kernel/config-error'
import { pino } from 'pino'
import { joinPrimary, type PrimaryChannel } from './compose/processes/join-primary.ts'
import { workerVariable } from './compose/processes/messages.ts'
import { startPrimary } from './compose/processes/run-primary.ts'
import type { WorkerPlace } from './compose/processes/worker-place.ts'
import { endSoon } from './end-process-adapter.ts'
import { createLog, mergedText } from './http/index.ts'
import { type RunningNode, startNode } from './node.ts'
import { writeRunningFile } from './running-file.ts'
import { parseConfig } from './shop-list.ts'
import { showStart } from './show-start.ts'
import { startSummary } from './start-summary.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
const complain = (text: string) => process.stderr.write(`${text}\n`)

type Running = Pick<RunningNode, 'url' | 'address' | 'devnets' | 'firstPurchase' | 'stop'> & {
  /** In a primary: one after the other, unseen by callers. */
  replaceWorkers?(): Promise<unknown>
}

/**
 * The process: configuration, start, `ready`, drain on a signal. With several processes this is the primary, which starts
 * the same command again for each worker.
 */
export async function runNode(given: NodeJS.ProcessEnv = process.env): Promise<void> {
  const { [workerVariable]: place, ...env } = given
  const startedMs = systemClock.monotonicMs()
  let starting: Promise<Running> | undefined
  let removeRunningFile: (() => Promise<void>) | undefined
  let stopping: Promise<void> | undefined
  const stop = (why: string, code: number) => {
    stopping ??= (async () => {
      if (!channel || code !== 0) complain(`\n${why}: finishing what is under way ...`)
      await removeRunningFile?.()
      await (await ended(starting, channel ? 0 : startMsMax))?.stop()
      process.exitCode = code
      endSoon()
      if (channel) return process.disconnect?.()
      complain('stopped')
    })()
  }
  const channel = place === undefined ? undefined : joinPrimary(() => stop('the primary ended', 1))
  // Registered before the start, so that an early Ctrl-C still stops the database in order. It reaches workers as well.
  process.on('SIGINT', () => channel || stop('Ctrl-C', 0))
  process.on('SIGTERM', () => stop('SIGTERM', 0))
  process.on('SIGUSR2', () => void starting?.then((node) => node.replaceWorkers?.()).catch(() => {}))
  const shown = channel === undefined ? showStart() : undefined
  try {
    const config = parseConfig(env)
    // Logs go to standard error: the last line on standard output stays `ready <url>`.
    const log = createLog({ level: config.logLevel, destination: pino.destination({ dest: 2, sync: false }) })
    const hooks = {
      log,
      onProgress: (text: string) => shown?.say(text),
      onLost: (reason: string) => stop(reason, 1),
    }
    const serving = { ...hooks, warm: true, trustExamples: true, watchLoop: true, acceptors: 8 }
    const worker = channel && (await workerPlace(Number(place), channel))
    if (worker) starting = startNode(config, { ...serving, worker })
    else if (config.supervised) starting = startPrimary({ env, config, ...hooks })
    else starting = startNode(config, serving)
    const node = await starting
    shown?.end()
    if (stopping) return await stopping
    if (channel) return channel.ready({ firstPurchase: node.firstPurchase })
    removeRunningFile = await writeRunningFile(config.home, node.address)
    say(startSummary({ ...node, config }, (systemClock.monotonicMs() - startedMs) / 1000))
    say(`ready ${node.url}`)
  } catch (error) {
    shown?.end()
    complain(
      error instanceof ConfigError
        ? `${error.message}\ndocs/configuration.md explains every variable; \`npx assay doctor\` checks yours.`
        : `Assay could not start: ${error instanceof Error ? error.message : String(error)}${startHint(error)}`,
    )
    // As `assay` ends: 2 for what a person has to correct.
    process.exitCode = error instanceof ConfigError ? 2 : 1
    endSoon()
    if (channel) process.disconnect?.()
  }
}

/** A first start prepares a database. A worker owns nothing of the kind, and is not waited for. */
const startMsMax = 60_000

/** What a start opened is stopped in order once it has ended; one that hangs is not waited for. */
async function ended<T>(start: Promise<T> | undefined, msMax: number): Promise<T | undefined> {
  const known = new AbortController()
  const late = systemClock.sleep(msMax, known.signal).then(
    () => undefined,
    () => undefined,
  )
  try {
    return await Promise.race([start, late])
  } catch {
    // The start itself reports why.
    return undefined
  } finally {
    known.abort()
  }
}

const workerPlace = async (index: number, { handles, gather, answerWith }: PrimaryChannel): Promise<WorkerPlace> => ({
  index,
  handles: await handles,
  metricsText: async () => mergedText(await gather()),
  answerWith,
})

function startHint(error: unknown): string {
  const { code, port, syscall } = (error ?? {}) as { code?: unknown; port?: unknown; syscall?: unknown }
  if (code === 'EADDRINUSE')
    return `\nPort ${port} is taken, perhaps by another node: set PORT (or DEVNET_PORTS for the chains), or 0 for any free one.`
  if (code === 'EACCES' && syscall === 'listen')
    return '\nThis user may not listen there: set PORT to one above 1023, or put a proxy in front.'
  const isFolder = ['EACCES', 'EPERM', 'ENOTDIR', 'EROFS', 'ENOSPC'].includes(String(code))
  return isFolder ? '\nThe data folder must be one that this user can write: set ASSAY_HOME to another.' : ''
}
