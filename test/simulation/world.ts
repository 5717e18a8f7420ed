import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { toHex } from '../../packages/protocol/src/bytes.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { sha256 } from '../../packages/till/src/kernel/bytes.ts'
import { type Log, silentLog } from '../../packages/till/src/kernel/log.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'
import type { TestChain } from '../harness/send-transaction.ts'
import { startChain } from '../harness/start-chain.ts'
import { askedOnce, createView } from './chain-views.ts'
import { createFaultPlan, type FaultPlan } from './fault-plan.ts'
import { type NodeProcess, type Plant, type ProcessSetup, startProcess, type Tally } from './node-process.ts'
import { preparingDatabase } from './prepared.ts'
import { createSeededRng } from './seeded-rng.ts'
import { simulationShops } from './shops.ts'
import { proveSites } from './simulated-web.ts'
import { createVirtualTime, type Life, type VirtualTime } from './virtual-time.ts'

export type { Plant } from './node-process.ts'

export const finalityLagBlocks = 4
export const viewsPerChain = 3
export const buyerCount = 4
export const creatorCount = 2
export const fundedMicro = 500_000_000_000n
const processesMax = 2
/** One seed in so many has timers that strike on time. */
const onTimeEvery = 8

/** Where one request goes; a signed one is signed for this process. */
export type NodeAccess = { address: string; fetch(path: string, init?: RequestInit): Promise<Response> }

export type World = {
  seed: string
  time: VirtualTime
  plan: FaultPlan
  db: TestDatabase
  chains: readonly Devnet[]
  /** The same for those who only look at them. */
  shown: readonly TestChain[]
  buyers: readonly PrivateKeyAccount[]
  /** Who earns by being cited and buys nothing. */
  creators: readonly PrivateKeyAccount[]
  /** The public name, as payments carry it. */
  origin: string
  payTo: Address
  custody: Address
  tally: Tally
  /** Processes that run now. */
  lives(): readonly Life[]
  /** Requests go to one process after the other; this says which is next. */
  turnTo(turn: number): void
  app(): NodeAccess
  /** A request to whichever process is next; rejects when that process dies over it. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Kills a process. */
  kill(which: number): Promise<void>
  drain(which: number): Promise<void>
  /** Starts one more beside those that run, as long as there is room. */
  startAnother(): Promise<void>
  /** Those that died are buried; if nobody is left, somebody is started. */
  revive(): Promise<void>
  close(): Promise<void>
}

export type WorldOptions = {
  seed: string
  plant?: Plant
  log?: Log
  /** Whether timers strike late; else the seed decides. */
  late?: boolean
}

/** Whole nodes with their jobs, on a real database, on chains and in a time that obey the simulation. */
export async function openWorld({ seed, ...options }: WorldOptions): Promise<World> {
  const { plant = (same) => same, log = silentLog, late = Number(seed) % onTimeEvery !== 0 } = options
  const time = createVirtualTime(Math.ceil(Date.now() / 3_600_000) * 3_600_000)
  const plan = createFaultPlan()
  const tally: Tally = { statements: 0, promisedDraws: 0, asked: 0 }
  const db = await openPreparing(tally)
  const home = await mkdtemp(join(tmpdir(), 'assay-simulation-'))
  const { chains, buyers, creators } = await fundWallets(seed, time)
  const shown = chains.map((chain) => ({
    ...{ chainId: chain.chainId, usdc: chain.usdc },
    request: askedOnce(chain, time),
  }))
  const views = new Map(
    chains.flatMap((chain, place) => {
      const { request } = shown[place] as TestChain
      return viewNames(chain.chainId).map((name) => [name, createView(name, chain, request, plan)] as const)
    }),
  )
  await db.owner.query(
    `create table simulated_effect (payment_id text not null, round integer not null, order_id text not null, revoked boolean not null default false);
     grant select, insert, update on simulated_effect to assay_app`,
  )
  await proveSites(
    db.owner,
    [...creators, ...buyers].map(({ address }) => address),
    time.nowMs(),
  )
  const processes = await keepProcesses({
    time,
    plan,
    sessions: db.database,
    rng: createSeededRng(`${seed}:node`),
    views,
    environment: {
      PORT: '0',
      BASE_URL: origin,
      ASSAY_HOME: home,
      DATABASE_URL: db.databaseUrl,
      BASE_RPC_URLS: urlsOf(8453),
      POLYGON_RPC_URLS: urlsOf(137),
      LOG_LEVEL: 'silent',
    },
    shops: simulationShops(seed),
    plant,
    log,
    tally,
    late,
  })
  return {
    seed,
    time,
    plan,
    db,
    chains,
    shown,
    buyers,
    creators,
    origin,
    tally,
    ...processes,
    close: async () => {
      await processes.close()
      await Promise.all(chains.map((chain) => chain.stop()))
      await db.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** A new session costs as much as a hundred statements and plans all of them, and what waits for one of few waits for a moment. */
async function openPreparing(tally: Tally): Promise<TestDatabase> {
  const db = await openTestDatabase({ poolSize: processesMax * 2 })
  const count = () => {
    tally.asked += 1
  }
  return { ...db, database: preparingDatabase(db.database, count), owner: preparingDatabase(db.owner) }
}

async function fundWallets(seed: string, time: VirtualTime) {
  const clock = time.clockFor({ alive: true, skewMs: 0 })
  const chains = await Promise.all([8453, 137].map((chainId) => startChain({ chainId, clock, log: silentLog })))
  const people = (role: string, count: number) =>
    Array.from({ length: count }, (_, index) => privateKeyToAccount(toHex(sha256(`${seed}:${role}:${index}`))))
  const buyers = people('buyer', buyerCount)
  for (const chain of chains) {
    for (const { address } of buyers)
      await chain.control.fund(address.toLowerCase() as Address, { microUsdc: fundedMicro })
    chain.control.setFinalityLag(finalityLagBlocks)
    await chain.control.mine(finalityLagBlocks)
  }
  return { chains, buyers, creators: people('creator', creatorCount) }
}

/** The processes on one database: the first from the start, another beside it from time to time. */
async function keepProcesses(setup: ProcessSetup) {
  const { time } = setup
  let running: NodeProcess[] = [await startProcess(setup)]
  let turn = 0
  const { config } = (running[0] as NodeProcess).node
  const remove = async (which: number, how: 'kill' | 'drain') => {
    const process = running[which % running.length]
    if (!process) return
    running = running.filter((one) => one !== process)
    await process[how]()
  }
  const app = (): NodeAccess => {
    const alive = running.filter(({ life }) => life.alive)
    const process = alive[turn % Math.max(1, alive.length)] ?? (running[0] as NodeProcess)
    turn += 1
    const { life, node } = process
    return {
      address: node.address,
      fetch: (path, init = {}) => {
        const signal = init.signal ? AbortSignal.any([init.signal, life.cutOff]) : life.cutOff
        return time.until(fetch(`${node.address}${path}`, { ...init, signal }))
      },
    }
  }
  return {
    payTo: config.payTo,
    custody: config.networks[0]?.custody as Address,
    lives: () => running.map(({ life }) => life).filter(({ alive }) => alive),
    turnTo: (given: number) => {
      turn = given
    },
    app,
    fetch: (path: string, init?: RequestInit) => app().fetch(path, init),
    kill: (which: number) => remove(which, 'kill'),
    drain: (which: number) => remove(which, 'drain'),
    startAnother: async () => {
      if (running.length < processesMax) running.push(await startProcess(setup))
    },
    revive: async () => {
      for (const dead of running.filter(({ life }) => !life.alive)) {
        running = running.filter((one) => one !== dead)
        await dead.kill()
      }
      if (running.length === 0) running.push(await startProcess(setup))
    },
    close: async () => {
      for (const process of running.splice(0)) await process.kill()
    },
  }
}

const origin = 'http://127.0.0.1:4020'
const viewNames = (chainId: number) =>
  Array.from({ length: viewsPerChain }, (_, index) => `view-${index + 1}.chain-${chainId}.test`)
const urlsOf = (chainId: number) =>
  viewNames(chainId)
    .map((name) => `https://${name}/`)
    .join(',')
