import type { Stops } from '@assay/till/compose'
import type { Devnet } from '@assay/till/devnet'
import { demoSettlers } from '@assay/till/devnet/accounts'
import { systemClock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import { systemRng } from '@assay/till/kernel/random'
import { runEmbedded } from '@assay/till/store/embedded/run-embedded'
import type { Config } from '../../config/load-config.ts'
import { startDevnets } from '../infrastructure.ts'
import { bindSocket } from './bind-socket.ts'
import { type ForkedWorker, forkWorker } from './fork-worker.ts'
import { createTurnBatcher } from './gather-metrics.ts'
import type { FromWorker } from './messages.ts'
import { superviseWorkers } from './supervise-workers.ts'
import { usesDemoSettler, workerEnvironment } from './worker-environment.ts'

export type PrimaryOptions = {
  env: Record<string, string | undefined>
  config: Config
  log: Log
  onProgress(text: string): void
  /** The data folder is no longer held: this process should be stopped. */
  onLost(reason: string): void
}

export type Primary = {
  url: string
  address: string
  devnets: readonly Devnet[]
  firstPurchase: string | undefined
  replaceWorkers(): Promise<unknown>
  stop(): Promise<void>
}

/**
 * Owns what there is one of: the socket, the data folder with its database, the embedded chains. Everything else is done
 * by workers, which are complete processes of the node and share nothing but the database. It sells nothing itself.
 */
export async function startPrimary(options: PrimaryOptions): Promise<Primary> {
  const stops: Stops = []
  const stop = async () => {
    for (const undo of stops.splice(0).reverse()) await undo().catch(() => {})
  }
  try {
    return { ...(await open(options, stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function open(options: PrimaryOptions, stops: Stops): Promise<Omit<Primary, 'stop'>> {
  const { config, env, log } = options
  const { handle, port } = await bindSocket(config.host, config.port)
  stops.push(async () => handle.close())
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const address = `http://${host}:${port}`
  const databaseUrl = config.databaseUrl === undefined ? await startDatabase(options, stops) : undefined
  const devnets = await startDevnets(config, { clock: systemClock, log }, stops)
  if (usesDemoSettler(env, config))
    for (const devnet of devnets)
      for (const { address: wallet } of demoSettlers(config.processes))
        await devnet.control.fund(wallet, { microUsdc: 0n, wei: 10n ** 21n })
  const rpcUrls = new Map(devnets.flatMap(({ chainId, url }) => (url === undefined ? [] : [[chainId, url] as const])))
  const shared = { port, url: address, databaseUrl, rpcUrls }
  const { start, workers } = createWorkers((index) => workerEnvironment(env, config, shared, index), handle)
  // After the supervisor: those of a start that failed, and successors that it does not keep yet.
  stops.push(async () => {
    for (const worker of workers) worker.drain()
    await Promise.all([...workers].map(({ ended }) => ended))
  })
  const { first, replaceAll, stop } = await superviseWorkers({ start, clock: systemClock, log }, config.processes)
  stops.push(stop)
  if (first === undefined) throw new Error('its first worker did not start')
  return { url: config.baseUrl ?? address, address, devnets, ...first, replaceWorkers: replaceAll }
}

/** Starts workers, and gives each the metrics of all when it asks. */
function createWorkers(
  environment: (index: number) => PrimaryOptions['env'],
  handle: Parameters<typeof forkWorker>[1],
) {
  const workers = new Set<ForkedWorker>()
  const gathering = createTurnBatcher(systemClock)
  const onMessage = (message: FromWorker, from: ForkedWorker) => {
    if (message.kind === 'metrics') gathering.answered(message.id, message.families)
    if (message.kind !== 'gather') return
    const sources = [...workers].map(({ send }) => ({ ask: (id: number) => send({ kind: 'metrics', id }) }))
    void gathering.gather(sources).then((families) => from.send({ kind: 'gathered', id: message.id, families }))
  }
  const start = (index: number) => {
    const worker = forkWorker(environment(index), handle, onMessage)
    workers.add(worker)
    void worker.ended.then(() => workers.delete(worker))
    return worker
  }
  return { start, workers }
}

async function startDatabase({ config, log, onProgress, onLost }: PrimaryOptions, stops: Stops): Promise<string> {
  const server = await runEmbedded({
    home: config.home,
    ...(config.databasePort ? { port: config.databasePort } : {}),
    ...{ clock: systemClock, rng: systemRng, log, onProgress },
    onLockLost: () => onLost('the data folder is no longer held'),
  })
  stops.push(() => server.stop())
  // Its private socket costs less than loopback does.
  const { host } = server.target as { host: string }
  return `${server.databaseUrl}?host=${encodeURIComponent(host)}`
}
