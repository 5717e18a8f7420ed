import type { Hex } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { type ChainPort, ChainUnreadable, createRpc, type Network } from '../../packages/till/src/chain/index.ts'
import { testChain } from '../../packages/till/src/chain/wallet/wallet.fixture.ts'
import { demoAccount } from '../../packages/till/src/devnet/index.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { type ReconcileReport, reconcileBooks } from '../../packages/till/src/recovery/reconcile.ts'
import { schemes } from '../../packages/till/src/schemes/exact/schemes.fixture.ts'
import { buy, echoPath, openTill, type TillFixture } from '../harness/till-fixture.ts'
import { transferPlainly } from './wallets.ts'

export type RpcLog = Record<string, unknown> & { data: string }
/** What an endpoint makes of the logs it was asked for; by its number. */
export type AlterLogs = (logs: RpcLog[], endpoint: number) => RpcLog[]

/** A till whose books are compared with the chain on request, through three endpoints that can lie. */
export type ReconciledTill = {
  till: TillFixture
  chain: ChainPort
  alter(logs: AlterLogs): void
  /** One cycle; undefined when the chain could not be read. `unread` lets the last read of it fail. */
  reconcile(unread?: boolean): Promise<ReconcileReport | undefined>
  /** How often the alarm rang since the last check. */
  alarms(): number
  sell(): Promise<void>
  transfer(from: 'creator' | 'operator', to: string, micro: bigint): Promise<Hex>
  close(): Promise<void>
}

export const endpoints = 3

/** Without jobs what is injected stays there until the next cycle. With them, too, only the caller compares: two at once disturb each other. */
export async function openReconciledTill({ jobs = false } = {}): Promise<ReconciledTill> {
  const intercept: Interceptors = { job: (name, round) => (name === 'payments.reconcile' ? async () => {} : round) }
  const till = await openTill({ ownShops: 'till', jobs, intercept })
  const buyer = await till.newBuyer(1_000_000_000n)
  const listening: { alter: AlterLogs; rung: number; unread: boolean } = {
    alter: (logs) => logs,
    rung: 0,
    unread: false,
  }
  const chain = openFaultyChain(till, listening)
  const metrics = {
    ...silentMetrics,
    count: (_name: string, labels?: Record<string, string>) => {
      if (labels?.['alarm'] === 'books_differ') listening.rung += 1
    },
  }
  const deps = { clock: systemClock, ids: createIds(systemClock, systemRng), log: silentLog, metrics, schemes }
  return {
    till,
    chain,
    alter: (logs) => {
      listening.alter = logs
    },
    reconcile: async (unread = false) => {
      listening.unread = unread
      const target = { chain, payee: 'pay_to' as const, address: till.node.config.payTo }
      return (await reconcileBooks({ database: till.db.database, ...deps }, [target]))[0]
    },
    alarms: () => {
      const { rung } = listening
      listening.rung = 0
      return rung
    },
    sell: () => sellOnce(till, buyer),
    transfer: (from, to, micro) =>
      transferPlainly(till.base, privateKeyToAccount(demoAccount(from).privateKey), to as Address, micro),
    close: () => till.close(),
  }
}

function openFaultyChain(till: TillFixture, listening: { alter: AlterLogs; unread: boolean }) {
  const given = till.node.config.networks[0] as Network
  const rpc = createRpc(
    Array.from({ length: endpoints }, (_, endpoint) => ({
      name: `endpoint ${endpoint}`,
      send: (calls: readonly { method: string; params: readonly unknown[] }[]) =>
        Promise.all(
          calls.map(async ({ method, params }) => {
            const answer = await till.base.request(method, [...params])
            return method === 'eth_getLogs' ? listening.alter(answer as RpcLog[], endpoint) : answer
          }),
        ),
    })),
    { clock: systemClock },
  )
  const real = testChain({ ...given, usdc: { ...given.usdc, address: till.base.usdc } }, rpc)
  const usdcBalances: typeof real.usdcBalances = (owners, block) =>
    listening.unread ? Promise.reject(new ChainUnreadable('away')) : real.usdcBalances(owners, block)
  return { ...real, usdcBalances }
}

async function sellOnce(till: TillFixture, buyer: PrivateKeyAccount): Promise<void> {
  const response = await buy(buyer, `${till.node.url}${echoPath}`)
  if (response.status !== 200)
    throw new Error(`a purchase was answered with ${response.status}: ${await response.text()}`)
  await response.body?.cancel()
}
