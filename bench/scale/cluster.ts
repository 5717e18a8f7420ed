import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { runEmbedded } from '../../packages/till/src/store/embedded/run-embedded.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'
import { startChain } from '../../test/harness/start-chain.ts'
import { benchPayer } from '../load/sign-payments.ts'
import { closeOnSignal } from '../process/on-signal.ts'
import { openNats } from './nats.ts'

export type Env = Record<string, string>

/** What all processes of one node share: a database with fsync on, a pair of chains, JetStream, one public name. */
export type Cluster = {
  databaseUrl: string
  /** As the owner of the database, for looking at what the processes did. */
  owner: Database
  base: Devnet
  polygon: Devnet
  home: string
  /** What carries the stream from process to process. */
  bus: 'JetStream' | 'LISTEN/NOTIFY'
  /** Configuration of one process that listens on `port`. */
  env(port: number, more?: Env): Env
  /** Ends with the cluster, whatever happens before. */
  adopt(end: () => Promise<unknown>): void
  close(): Promise<void>
}

export type ClusterOptions = {
  /** Bench payers with test dollars. */
  payers: number
  /** Wallets that settle; each is used by one process at a time. */
  settlers: number
  /** Missing servers are installed where that is possible. */
  install: boolean
  say(text: string): void
  /** Instead of the embedded database. */
  openDatabase?(home: string): Promise<{ databaseUrl: string; stop(): Promise<void> }>
}

export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const home = await mkdtemp(join(tmpdir(), 'assay-scale-'))
  // The user that root runs the database as must be able to pass.
  await chmod(home, 0o711)
  const closing: (() => Promise<unknown>)[] = [() => rm(home, { recursive: true, force: true })]
  const close = async () => {
    removeHandler()
    for (const undo of closing.splice(0).reverse()) await undo()
  }
  const removeHandler = closeOnSignal(close)
  try {
    const ports = { clock: systemClock, log: silentLog }
    const quiet = { rng: systemRng, onProgress: () => {}, onLockLost: () => {} }
    const server = await (options.openDatabase?.(home) ??
      runEmbedded({ home: join(home, 'database'), ...ports, ...quiet }))
    closing.push(() => server.stop())
    const owner = createDatabase({ target: { url: server.databaseUrl }, poolSize: 2, rng: systemRng, ...ports })
    closing.push(() => owner.close())
    const fund = Array.from({ length: options.payers }, (_, index) => benchPayer(index).address)
    const base = await startChain({ chainId: 8453, port: 0, fund, ...ports })
    closing.push(() => base.stop())
    const polygon = await startChain({ chainId: 137, port: 0, ...ports })
    closing.push(() => polygon.stop())
    const nats = await openNats(options.install, options.say)
    if (nats) closing.push(() => nats.stop())
    const settlers = await fundedSettlers(options.settlers, [base, polygon])
    const publicUrl = `http://127.0.0.1:${await freePort()}`
    const shared: Env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      NODE_ENV: 'production',
      // One public name for all processes, as behind a load balancer.
      BASE_URL: publicUrl,
      DATABASE_URL: server.databaseUrl,
      BASE_RPC_URLS: base.url ?? '',
      POLYGON_RPC_URLS: polygon.url ?? '',
      SETTLER_KEYS: settlers.join(','),
      LOG_LEVEL: 'error',
      MATRIX: '{"demo":"off"}',
      INTENTS: '{"demo":"off"}',
      ...(nats ? { NATS_URL: nats.url } : {}),
    }
    await mkdir(join(home, 'nodes'))
    const env = (port: number, more: Env = {}) => ({
      ...shared,
      PORT: String(port),
      ASSAY_HOME: join(home, 'nodes', String(port)),
      ...more,
    })
    return {
      databaseUrl: server.databaseUrl,
      owner,
      base,
      polygon,
      home,
      bus: nats ? 'JetStream' : 'LISTEN/NOTIFY',
      env,
      adopt: (end) => closing.push(end),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function fundedSettlers(count: number, chains: readonly Devnet[]): Promise<string[]> {
  const keys = Array.from({ length: count }, () => generatePrivateKey())
  for (const key of keys)
    for (const chain of chains) {
      const address = privateKeyToAccount(key).address.toLowerCase() as Address
      await chain.control.fund(address, { microUsdc: 0n, wei: 10n ** 19n })
    }
  return keys
}
