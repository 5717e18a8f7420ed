import type { Address } from '@assay/protocol/address'
import { insertTestMandate, openTestCredit, randomWallet } from '@assay/till/credit/credit.fixture'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createTokenMaker } from '@assay/till/signing'
import type { Tx } from '@assay/till/store/database'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { afterAll, beforeAll } from 'vitest'
import { createShopPorts } from '../shop-ports.ts'
import { grantPeriod } from './grant-period.ts'
import { parseSubscriptionPolicy, type Tier } from './policy.ts'
import { type RenewDeps, turnOn } from './renew.ts'
import { findRenewal } from './renewal-store.ts'
import { findSubscription } from './store.ts'

export const dayMs = 86_400_000
export const startMs = Date.UTC(2026, 0, 1)
export const network = 'eip155:8453'
export const delegate: Address = `0x${'d'.repeat(40)}`
export const tokens = createTokenMaker(systemRng, 'asub')
export const policy = parseSubscriptionPolicy()
export const { standard: price } = policy.priceMicro

type Given = { tier?: Tier; credit?: bigint; call?: bigint; total?: bigint; routes?: string[] }

/** Renewals on their own database, at a time that tests set. */
export function useRenewals() {
  const world = {
    nowMs: startMs,
    db: undefined as unknown as TestDatabase,
    credit: undefined as unknown as ReturnType<typeof openTestCredit>,
    deps: undefined as unknown as RenewDeps,
    clock: { nowMs: () => world.nowMs, monotonicMs: () => world.nowMs, sleep: async () => {} },
    tx: <T>(work: (tx: Tx) => Promise<T>): Promise<T> => world.db.database.transaction(work),
    of: (wallet: Address) => findSubscription(world.db.database, wallet),
    renewalOf: (wallet: Address) => findRenewal(world.db.database, wallet, 'feeds'),
    /** A wallet with one paid period, credit, and a mandate for renewals. */
    subscriber: async (given: Given = {}) => {
      world.nowMs = startMs
      const wallet = randomWallet()
      const tier = given.tier ?? 'standard'
      const bought = {
        ...{ paymentId: `pay_${wallet}`, round: 0, wallet, tier, network, boughtAtMs: startMs },
        ...{ standardMicro: price, vipMicro: policy.priceMicro.vip },
      }
      await world.tx((t) => grantPeriod(t, tokens, bought, startMs))
      if (given.credit !== 0n) await world.credit.topUp(wallet, given.credit ?? price)
      const cap = given.call ?? policy.priceMicro[tier]
      const mandateId = await insertTestMandate(world.db, {
        ...{ owner: wallet, delegate, routes: given.routes ?? ['subscriptions.*'] },
        ...{ call: cap, day: cap, total: given.total ?? cap * 12n, untilMs: startMs + 365 * dayMs },
      })
      const on = () =>
        world.tx((t) => turnOn(world.deps, t, { wallet, product: 'feeds', mandateId, priceMaxMicro: undefined }))
      return { wallet, mandateId, on }
    },
  }
  const { clock } = world
  beforeAll(async () => {
    world.db = await openTestDatabase({ poolSize: 12 })
    world.credit = openTestCredit(world.db, { clock })
    world.deps = {
      ...{ database: world.db.database, clock, ids: createIds(clock, systemRng), log: silentLog, policy, tokens },
      payees: { pay_to: { [network]: delegate }, custody: {} },
      base: { caip2: network } as RenewDeps['base'],
      networks: [{ caip2: network }] as unknown as RenewDeps['networks'],
      screening: { find: async () => undefined },
      ports: createShopPorts(),
      unavailable: () => undefined,
      streamUnavailable: () => undefined,
    }
  })
  afterAll(() => world.db.close())
  return world
}

export const quiet = { log: silentLog, metrics: silentMetrics }
