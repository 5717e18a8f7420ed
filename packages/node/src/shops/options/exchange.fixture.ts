import type { Address } from '@assay/protocol/address'
import type { AssetId } from '@assay/protocol/asset'
import { toHex } from '@assay/protocol/bytes'
import { canonicalJson, type Json } from '@assay/protocol/canonical-json'
import type { Micro } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import { reversalLines } from '@assay/till/gate/reversal-lines'
import type { PreparedAnswer } from '@assay/till/internal'
import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import { createIds } from '@assay/till/kernel/ids'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { accounts, post } from '@assay/till/ledger'
import type { Database, Tx } from '@assay/till/store/database'
import { creatorAccounts } from '../attestations/accounts.ts'
import type { Cluster, PublishedBucket, PublishedDemand } from '../ports.ts'
import { createBoard } from './board.ts'
import { commitBuys, prepareBuy, revokeBuy } from './buy-contracts.ts'
import type { OptionDeps } from './deps.ts'
import { capOf, symbolOf, widthOf } from './domain/contract-terms.ts'
import { commitPlaced, revokePlaced } from './place-in-book.ts'
import { prepareOrder } from './place-order.ts'
import { createQuotes } from './quotes.ts'
import { createReserveContracts } from './reserve-contracts.ts'
import { type OptionSettings, parseOptionSettings } from './settings.ts'
import { prepareWrite } from './write-contracts.ts'

export const network = 'eip155:8453'
export const usdc: AssetId = 'eip155:8453/erc20:0x00000000000000000000000000000000000000dc'
export const vaultWallet: Address = '0x00000000000000000000000000000000000000fa'
export const startMs = Date.UTC(2026, 10, 16, 10)

/** Wallets by number, lower case as the books want them. */
export const walletOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`

export type TestClock = Clock & { set(ms: number): void; advance(ms: number): void }

export function createTestClock(ms = startMs): TestClock {
  let now = ms
  return {
    nowMs: () => now,
    monotonicMs: () => now,
    sleep: async () => {},
    set: (to) => {
      now = to
    },
    advance: (by) => {
      now += by
    },
  }
}

/** A stream in memory: what a test publishes is what there is. */
export function createTestDemand(
  clusters: readonly Cluster[] = [],
): PublishedDemand & { publish(buckets: readonly PublishedBucket[]): void } {
  const known: PublishedBucket[] = []
  return {
    clusters: () => clusters,
    buckets: async ({ cluster, fromMs, toMs }) =>
      known.filter(
        (bucket) =>
          (cluster === undefined || bucket.cluster === cluster) &&
          bucket.endsAtMs > fromMs &&
          bucket.startsAtMs <= toMs,
      ),
    onPublished: () => () => {},
    publish: (buckets) => {
      known.push(...buckets)
    },
  }
}

export const testClusters: readonly Cluster[] = ['52', '53', '150', '464'].map((id) => ({
  id,
  name: `Topic ${id}`,
  parentId: null,
  tier: 1,
  source: 'iab',
}))

export type ExchangeOptions = { settings?: Partial<OptionSettings>; spareMicro?: Micro }

function createTestDeps(database: Database, options: ExchangeOptions) {
  const clock = createTestClock()
  const demand = createTestDemand(testClusters)
  const switchedOff = { on: false }
  const deps: OptionDeps = {
    database,
    clock,
    ids: createIds(clock, systemRng),
    log: silentLog,
    metrics: silentMetrics,
    jws: {
      sign: (payload: Json) => `jws.${sha256(canonicalJson(payload)).toString('hex')}`,
      verify: () => undefined,
    },
    settings: { ...(parseOptionSettings({}, true) as OptionSettings), ...options.settings },
    demand,
    network,
    usdc,
    vaultWallet,
    unreservedCustody: async () => async () => options.spareMicro ?? 0n,
    requireTrading: async () => {
      if (switchedOff.on) throw new Error('switched off')
    },
  }
  return { deps, clock, demand, switchedOff }
}

const salesAt =
  (clock: Clock) =>
  (id: string, routeId: string, payer: Address, amountMicro: Micro, reservation: Json): Sale => ({
    paymentId: id,
    routeId,
    network,
    payer,
    amountMicro,
    payee: 'custody',
    attribution: {},
    reservation,
    provisional: false,
    transaction: toHex(sha256(id)),
    settledAtMs: clock.nowMs(),
    feeMicro: 0n,
    round: 0,
    source: 'payment',
  })

type Prepare<Body> = (deps: OptionDeps, body: Body, call: { payer: Address }) => Promise<PreparedAnswer>

/** The exchange on a real database, with money that is posted as the till posts it and a clock in the test's hand. */
export function createExchange(database: Database, options: ExchangeOptions = {}) {
  const { deps, clock, demand, switchedOff } = createTestDeps(database, options)
  const reserving = createReserveContracts(deps)
  const board = createBoard(deps)
  const quotes = createQuotes({ secret: Buffer.alloc(32, 7), clock, rng: systemRng, quoteMs: deps.settings.quoteMs })
  const buying = { ...deps, reserving, quotes }
  let payments = 0

  const payment = async (
    payer: Address,
    amountMicro: Micro,
    final = true,
    routeId = 'options.buy',
  ): Promise<string> => {
    payments += 1
    const id = deps.ids.next('pay')
    await insertPayments(database, [{ id, payer, amountMicro, final, atMs: clock.nowMs(), routeId }])
    return id
  }
  const saleOf = salesAt(clock)
  const reserve = async (
    payer: Address,
    symbol: string,
    quantity: number,
    amountMicro: Micro,
    more: { quote_id?: string; final?: boolean } = {},
  ) => {
    const id = await payment(payer, amountMicro, more.final ?? true)
    const prepared = await prepareBuy(
      buying,
      { symbol, quantity, ...(more.quote_id ? { quote_id: more.quote_id } : {}) },
      { payer, paymentId: id },
    )
    return saleOf(id, 'options.buy', payer, amountMicro, prepared.reservation ?? null)
  }
  const commit = (sales: readonly Sale[]) =>
    database.transaction(async (tx) => {
      await settleMoney(tx, sales)
      await commitBuys(deps, tx, sales)
    })
  const placing =
    <Body>(kind: 'offer' | 'order', routeId: string, prepare: Prepare<Body>) =>
    async (payer: Address, body: Body, amountMicro: Micro, more: { final?: boolean } = {}) => {
      const id = await payment(payer, amountMicro, more.final ?? true, routeId)
      const prepared = await prepare(deps, body, { payer })
      const sale = saleOf(id, routeId, payer, amountMicro, prepared.reservation ?? null)
      await database.transaction(async (tx) => {
        await settleMoney(tx, [sale])
        await commitPlaced(deps, tx, kind, sale)
      })
      return sale
    }
  return {
    deps,
    buying,
    board,
    clock,
    demand,
    quotes,
    switchedOff,
    payment,
    saleOf,
    reserve,
    commit,
    buy: async (
      payer: Address,
      symbol: string,
      quantity: number,
      amountMicro: Micro,
      more: { final?: boolean } = {},
    ) => {
      const sale = await reserve(payer, symbol, quantity, amountMicro, more)
      await commit([sale])
      return sale
    },
    write: placing('offer', 'options.write', prepareWrite),
    order: placing('order', 'options.order', prepareOrder),
    revoke: (sale: Sale) => revokeSale(deps, sale),
    count: () => payments,
  }
}

/** What the till does when a reorg took the payment away. */
const revokeSale = (deps: OptionDeps, sale: Sale) =>
  deps.database.transaction(async (tx) => {
    const taken = { id: sale.paymentId, network, amountMicro: sale.amountMicro }
    await post(tx, [
      {
        reference: `reorg:${sale.paymentId}`,
        kind: 'reorg',
        paymentId: sale.paymentId,
        lines: [
          ...(await reversalLines(tx, taken, sale.amountMicro)),
          { account: creatorAccounts.distributor(network), amount: -sale.amountMicro },
        ],
      },
    ])
    if (sale.routeId === 'options.buy') await revokeBuy(deps, tx, sale)
    else await revokePlaced(deps, tx, sale.routeId === 'options.order' ? 'order' : 'offer', sale)
  })

export type Exchange = ReturnType<typeof createExchange>

export type TestPayment = {
  id: string
  payer: Address
  amountMicro: Micro
  final: boolean
  atMs: number
  routeId?: string
}

/** Rows as the till leaves them when a call is prepared; `final` says whether the chain can still take them back. */
export async function insertPayments(database: Database, rows: readonly TestPayment[]): Promise<void> {
  await database.query(
    `insert into payment (scheme, quoted_micro, id, state, network, asset, payer, payment_key, pay_to, payee, amount_micro, valid_before, route_id, resource,
       fingerprint, revocable, owner, lease_until, claimed_at, head_block, final)
     select 'exact', amount, id, 'served', $6, $7::text, payer, sha256(id::bytea), $7::text, 'custody', amount, 0, route, '', sha256(id::bytea), true, 0, at, at, 1, final
     from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[], $5::timestamptz[], $8::text[])
       p (id, payer, amount, final, at, route)`,
    [
      rows.map(({ id }) => id),
      rows.map(({ payer }) => payer),
      rows.map(({ amountMicro }) => amountMicro),
      rows.map(({ final }) => final),
      rows.map(({ atMs }) => new Date(atMs)),
      network,
      usdc,
      rows.map(({ routeId }) => routeId ?? 'options.buy'),
    ],
  )
}

/** The till's own posting of a sale into custody. */
export async function settleMoney(tx: Tx, sales: readonly Sale[]): Promise<void> {
  await post(
    tx,
    sales.map(({ paymentId, amountMicro }) => ({
      reference: `sale:${paymentId}`,
      kind: 'sale',
      paymentId,
      lines: [
        { account: creatorAccounts.distributor(network), amount: amountMicro },
        { account: accounts.clearingPayments(network), amount: -amountMicro },
      ],
    })),
  )
}

export type TestSeries = {
  cluster?: string
  kind?: 'C' | 'P'
  strike?: number
  sizeMicro?: bigint
  expiresAtMs?: number
  modelMicro?: bigint | null
  interestMicro?: bigint
}

/** Lists a series with terms of the test's choice. */
export async function listTestSeries(exchange: Pick<Exchange, 'deps'>, given: TestSeries = {}): Promise<string> {
  const { cluster = '52', kind = 'C', strike = 100, sizeMicro = 10_000_000n } = given
  const { database, clock, settings } = exchange.deps
  const expiresAtMs = given.expiresAtMs ?? clock.nowMs() + 600_000
  const width = widthOf(kind, strike)
  const symbol = symbolOf({ cluster, expiresAtMs, strike, kind })
  await database.query(
    `insert into option_cluster (cluster, base_share_e12, base_at) values ($1, 250000000000, $2) on conflict do nothing`,
    [cluster, new Date(startMs)],
  )
  await database.query(
    `insert into option_series (symbol, cluster, kind, strike, width, size_micro, cap_micro, listed_at, last_trade_at, expires_at, state,
       interest_limit_micro, volatility, model_micro, priced_at, synthetic)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'trading', $11, 0.9, $12, $8, true)`,
    [
      symbol,
      cluster,
      kind,
      strike,
      width,
      sizeMicro,
      capOf({ width, sizeMicro }),
      new Date(clock.nowMs()),
      new Date(expiresAtMs - settings.cutoffMs),
      new Date(expiresAtMs),
      given.interestMicro ?? 10n ** 15n,
      given.modelMicro ?? null,
    ],
  )
  return symbol
}

/** Ticks of one value over the whole settlement window of an expiry, with a crowd behind them. */
export async function publishTicks(
  exchange: Pick<Exchange, 'deps'>,
  cluster: string,
  expiresAtMs: number,
  valueE4: bigint,
  agents: number | null = 50,
): Promise<void> {
  const { database, settings } = exchange.deps
  const bucketMs = 30_000
  const ends: number[] = []
  for (let at = expiresAtMs - settings.windowMs + bucketMs; at <= expiresAtMs; at += bucketMs) ends.push(at)
  await database.query(
    `insert into option_tick (cluster, at, share_e12, value_e4, agents)
     select $1, at, 1, $2, $3 from unnest($4::timestamptz[]) t (at) on conflict do nothing`,
    [cluster, valueE4, agents, ends.map((at) => new Date(at))],
  )
  await database.query(
    `insert into option_input (ends_at, cluster, starts_at, bonded, event_id, synthetic)
     select at, $1, at - interval '30 seconds', $2, 'test', true from unnest($3::timestamptz[]) t (at) on conflict do nothing`,
    [cluster, agents, ends.map((at) => new Date(at))],
  )
  await database.query(
    `insert into option_tick_proof (at, jws) select at, 'test' from unnest($1::timestamptz[]) t (at) on conflict do nothing`,
    [ends.map((at) => new Date(at))],
  )
}
