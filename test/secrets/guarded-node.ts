import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getAddress } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { createLog, type RouteDeclaration } from '../../packages/node/src/http/index.ts'
import { type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { natsInstalled, startNats } from '../../packages/node/src/shops/intents/nats-server.fixture.ts'
import { startSummary } from '../../packages/node/src/start-summary.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { demoUsdcAddress } from '../../packages/till/src/devnet/accounts.ts'
import type { Devnet } from '../../packages/till/src/devnet/index.ts'
import { createCdpFacilitator } from '../../packages/till/src/facilitators/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { freePort } from '../../packages/till/src/store/embedded/free-port.ts'
import { openTestDatabase, type TestDatabase } from '../../packages/till/src/store/testing.ts'
import { createFaultPoints, type FaultPoints } from '../harness/fault-points.ts'
import { openFeedShop } from '../harness/feed-shop.ts'
import { startChain } from '../harness/start-chain.ts'
import { type Canaries, makeCanaries } from './canaries.ts'
import {
  type FailingFacilitator,
  type KeyedProvider,
  startFailingFacilitator,
  startHook,
  startKeyedProvider,
} from './keyed-upstreams.ts'
import { createLeakingShop, type LeakingShop } from './leaking-shop.ts'
import { secretBearingFaults } from './secret-bearing-faults.ts'
import { createWatch, type Watch } from './watch.ts'

const furtherChain = 42_161

/** A node with every shop and a canary in every secret, and one beside it whose facilitator is a hosted one. */
export type GuardedNode = {
  watch: Watch
  canaries: Canaries
  node: RunningNode
  hosted: RunningNode
  /** Names of the variables that the two were given. */
  configured: ReadonlySet<string>
  /** What the node is given, for another that is meant to fail. */
  env: Record<string, string>
  routes(): readonly RouteDeclaration[]
  odd: LeakingShop
  providers: readonly KeyedProvider[]
  facilitator: FailingFacilitator
  hook: Awaited<ReturnType<typeof startHook>>
  points: FaultPoints
  /** One round of every job of the node. */
  rounds: ReadonlyMap<string, () => Promise<void>>
  db: TestDatabase
  newBuyer(microUsdc?: bigint): Promise<PrivateKeyAccount>
  close(): Promise<void>
}

export async function openGuardedNode(): Promise<GuardedNode> {
  const watch = createWatch()
  const log = createLog({ level: 'debug', destination: watch.logs })
  const closing: (() => Promise<unknown>)[] = []
  const home = await mkdtemp(join(tmpdir(), 'assay-secrets-'))
  closing.push(() => rm(home, { recursive: true, force: true }))
  const canaries = await makeCanaries(watch, home)
  const db = await openTestDatabase()
  closing.push(() => db.close())
  watch.keep('database password', new URL(db.databaseUrl).password)
  const outside = await openOutside(canaries, closing)
  const { hook, facilitator, chains, rpcEnv, natsEnv } = outside
  const env: Record<string, string> = {
    PORT: '0',
    ASSAY_HOME: home,
    DATABASE_URL: db.databaseUrl,
    // What has no data is not for sale.
    MATRIX: '{"demo":"small","fetch":["prices"]}',
    INTENTS: '{"demo_calls_per_second":0.05}',
    ...rpcEnv,
    ...canaries.env,
  }
  const start = async (more: Record<string, string>, options: Parameters<typeof startNode>[1]) => {
    const onProgress = (text: string) => void watch.saw('progress', text)
    const node = await startNode(parseConfig({ ...env, ...more }), { ...options, log, onProgress, trustExamples: true })
    closing.push(() => node.stop())
    watch.saw('start', startSummary(node, 1))
    return node
  }
  const points = createFaultPoints()
  const odd = createLeakingShop()
  const ownEnv = {
    ...canaries.ownEnv,
    ...natsEnv,
    DEMO_HOSTS: `hook.test=127.0.0.1:${hook.port}`,
    OPTIONS: JSON.stringify({ eligibility_url: `http://hook.test/eligible?key=${canaries.hookKey}` }),
  }
  const rounds = new Map<string, () => Promise<void>>()
  const node = await start(ownEnv, {
    intercept: {
      ...secretBearingFaults(points, { databaseUrl: db.databaseUrl, rpcUrl: rpcEnv.BASE_RPC_URLS }),
      job: (name, round) => {
        rounds.set(name, round)
        return round
      },
    },
    shops: [openFeedShop, odd.open],
  })
  const hostedEnv = {
    ...canaries.hostedEnv,
    ...{ DATABASE_URL_DIRECT: db.databaseUrl, DATABASE_URL_REPLICA: db.databaseUrl, BASE_URL: node.url },
  }
  const hosted = await start(hostedEnv, {
    ownShops: 'till',
    jobs: false,
    intercept: { facilitator: hostedAt(facilitator, canaries, db, log) },
  })
  return {
    watch,
    canaries,
    node,
    hosted,
    configured: new Set([env, ownEnv, hostedEnv].flatMap((given) => Object.keys(given))),
    env: { ...env, ...ownEnv },
    routes: odd.routes,
    odd,
    providers: outside.providers,
    facilitator,
    hook,
    points,
    rounds,
    db,
    newBuyer: async (microUsdc = 1_000_000_000_000n) => {
      const account = privateKeyToAccount(generatePrivateKey())
      for (const { control } of chains)
        await control.fund(account.address.toLowerCase() as Address, { microUsdc, wei: 0n })
      return account
    },
    close: async () => {
      for (const undo of closing.reverse()) await undo()
    },
  }
}

/** The chains behind providers that want keys, a message broker where there is one, and what else a node calls. */
async function openOutside(canaries: Canaries, closing: (() => Promise<unknown>)[]) {
  const ports = { clock: systemClock, log: silentLog }
  const chains: Devnet[] = []
  const providers: KeyedProvider[] = []
  const urls: string[] = []
  for (const chainId of [8453, 137, furtherChain]) {
    const chain = await startChain({ chainId, ...ports })
    closing.push(() => chain.stop())
    await chain.control.fund(canaries.settler.address.toLowerCase() as Address, { microUsdc: 0n, wei: 10n ** 20n })
    const pair = [
      await startKeyedProvider(chain, canaries.provider),
      await startKeyedProvider(chain, canaries.provider),
    ] as const
    closing.push(...pair.map((provider) => provider.stop))
    // Between them one that nobody answers at: asked on every read that wants more than one answer.
    const dead = new URL(pair[0].url)
    dead.port = String(await freePort())
    chains.push(chain)
    providers.push(...pair)
    urls.push([pair[0].url, dead.href, pair[1].url].join(','))
  }
  const [facilitator, hook] = [await startFailingFacilitator(), await startHook()]
  closing.push(facilitator.stop, hook.stop)
  const nats = natsInstalled ? await startNats() : undefined
  if (nats) closing.push(() => nats.stop())
  const { user, password } = canaries.nats
  return {
    chains,
    providers,
    facilitator,
    hook,
    rpcEnv: {
      BASE_RPC_URLS: urls[0] ?? '',
      POLYGON_RPC_URLS: urls[1] ?? '',
      CHAINS: JSON.stringify({
        further: {
          chain_id: furtherChain,
          rpc_urls: (urls[2] ?? '').split(','),
          usdc: getAddress(demoUsdcAddress(furtherChain)),
        },
      }),
    },
    natsEnv: nats ? { NATS_URL: nats.url.replace('://', `://${user}:${password}@`) } : {},
  }
}

/** The client of the hosted facilitator as it is, only at an address of this machine. */
function hostedAt(
  { baseUrl }: FailingFacilitator,
  { cdp }: Canaries,
  db: TestDatabase,
  log: ReturnType<typeof createLog>,
): NonNullable<Interceptors['facilitator']> {
  const ports = { clock: systemClock, rng: systemRng, log, metrics: silentMetrics }
  return () =>
    createCdpFacilitator({
      apiKeyId: cdp.keyId,
      apiKeySecret: cdp.keySecret,
      baseUrl,
      sql: db.database,
      settleTimeoutMs: 2_000,
      ...ports,
    })
}
