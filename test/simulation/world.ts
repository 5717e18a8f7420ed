import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Interceptors } from '../../packages/node/src/compose/ground.ts'
import { parseConfig } from '../../packages/node/src/config.ts'
import { type Devnet, startDevnet } from '../../packages/node/src/devnet/index.ts'
import type { Address } from '../../packages/node/src/kernel/address.ts'
import { sha256, toHex } from '../../packages/node/src/kernel/bytes.ts'
import { type Log, silentLog } from '../../packages/node/src/kernel/log.ts'
import { type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/node/src/store/testing.ts'
import { bendFacilitator } from './bent-facilitator.ts'
import { createView } from './chain-views.ts'
import { createFaultPlan, type FaultPlan } from './fault-plan.ts'
import { createMortalPorts } from './mortal-ports.ts'
import { createSeededRng } from './seeded-rng.ts'
import { simulationShops } from './shops.ts'
import { beginLife, createVirtualTime, type Life, type VirtualTime } from './virtual-time.ts'

export const finalityLagBlocks = 4
export const viewsPerChain = 3
export const buyerCount = 4
export const fundedMicro = 50_000_000_000n

/** Stands between the node and its ports for a whole run; a planted fault is one that should not be there. */
export type Plant = (intercept: Interceptors) => Interceptors

export type World = {
  seed: string
  time: VirtualTime
  plan: FaultPlan
  db: TestDatabase
  chains: readonly Devnet[]
  buyers: readonly PrivateKeyAccount[]
  life(): Life
  /** The public name, as payments carry it. */
  origin: string
  /** Where the process that runs now listens, and what requests to it are signed for. */
  address(): string
  payTo: Address
  custody: Address
  /** A request to whichever process runs; rejects when that process dies over it. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Ends the process where it stands, if a planned death has not yet, and starts another. */
  restart(): Promise<void>
  close(): Promise<void>
}

export type WorldOptions = { seed: string; plant?: Plant; log?: Log }

/** A whole node with its jobs, on a real database, on chains and in a time that obey the simulation. */
export async function openWorld({ seed, plant = (same) => same, log = silentLog }: WorldOptions): Promise<World> {
  const time = createVirtualTime(Math.ceil(Date.now() / 3_600_000) * 3_600_000)
  const plan = createFaultPlan()
  const rng = createSeededRng(`${seed}:node`)
  const db = await openTestDatabase({ poolSize: 3 })
  const home = await mkdtemp(join(tmpdir(), 'assay-simulation-'))
  const chainClock = time.clockFor({ alive: true, skewMs: 0 })
  const chains = await Promise.all(
    [8453, 137].map((chainId) => startDevnet({ chainId, clock: chainClock, log: silentLog })),
  )
  const views = new Map(
    chains.flatMap((chain) => viewNames(chain.chainId).map((name) => [name, createView(name, chain, plan)])),
  )
  const buyers = Array.from({ length: buyerCount }, (_, index) =>
    privateKeyToAccount(toHex(sha256(`${seed}:buyer:${index}`))),
  )
  for (const buyer of buyers)
    for (const chain of chains)
      await chain.control.fund(buyer.address.toLowerCase() as Address, { microUsdc: fundedMicro })
  for (const chain of chains) {
    chain.control.setFinalityLag(finalityLagBlocks)
    await chain.control.mine(finalityLagBlocks)
  }
  await db.owner.query(
    `create table simulated_effect (payment_id text not null, round integer not null, order_id text not null, revoked boolean not null default false);
     grant select, insert, update on simulated_effect to assay_app`,
  )
  const shops = simulationShops(seed)

  let current: { node: RunningNode; life: Life; bury(): Promise<void> }
  const start = async (attempt = 0): Promise<void> => {
    const life = beginLife()
    const clock = time.clockFor(life)
    const ports = createMortalPorts(life, time, plan)
    const intercept = plant({
      ...ports.intercept,
      rpc: (endpoint) => {
        const view = views.get(endpoint.name)
        if (!view) throw new Error(`no view is called ${endpoint.name}`)
        return { name: view.name, send: (calls) => ports.pass(() => view.send(calls)) }
      },
      facilitator: (real) => bendFacilitator(real, plan, { clock, rng }),
    })
    const starting = startNode(
      parseConfig({
        PORT: '0',
        BASE_URL: origin,
        ASSAY_HOME: home,
        DATABASE_URL: db.databaseUrl,
        BASE_RPC_URLS: urlsOf(8453),
        POLYGON_RPC_URLS: urlsOf(137),
        LOG_LEVEL: 'silent',
      }),
      { clock, rng, log, intercept, ownShops: 'till', shops },
    )
    // A start that fails or dies is followed by another, as under any supervisor; but not for ever.
    const node = await time.until(
      Promise.race([starting, whenEnded(life)]).catch((error: unknown) => {
        if (attempt >= 3) throw error
      }),
    )
    if (!node) {
      await ports.bury()
      return start(attempt + 1)
    }
    current = { node, life, bury: ports.bury }
  }
  const bury = async () => {
    const { node, life, bury } = current
    life.end()
    await bury()
    void node.stop()
  }
  await start()
  // biome-ignore lint/style/noNonNullAssertion: set by start
  const config = current!.node.config
  return {
    seed,
    time,
    plan,
    db,
    chains,
    buyers,
    life: () => current.life,
    origin,
    address: () => current.node.address,
    payTo: config.payTo,
    custody: config.custody[0] as Address,
    fetch: (path, init = {}) => {
      const signal = init.signal ? AbortSignal.any([init.signal, current.life.ended]) : current.life.ended
      return time.until(fetch(`${current.node.address}${path}`, { ...init, signal }))
    },
    restart: async () => {
      await bury()
      await start()
    },
    close: async () => {
      await bury()
      await Promise.all(chains.map((chain) => chain.stop()))
      await db.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

const whenEnded = (life: Life) =>
  new Promise<undefined>((resolve) => life.ended.addEventListener('abort', () => resolve(undefined), { once: true }))

const origin = 'http://127.0.0.1:4020'
const viewNames = (chainId: number) =>
  Array.from({ length: viewsPerChain }, (_, index) => `view-${index + 1}.chain-${chainId}.test`)
const urlsOf = (chainId: number) =>
  viewNames(chainId)
    .map((name) => `https://${name}/`)
    .join(',')
