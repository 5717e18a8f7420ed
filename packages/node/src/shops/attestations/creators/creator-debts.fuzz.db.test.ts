import type { Address } from '@assay/protocol/address'
import { type Micro, splitShare } from '@assay/protocol/money'
import { playedRpc } from '@assay/till/chain/played-rpc.fixture'
import { reversalLines } from '@assay/till/gate/reversal-lines'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { accounts, balanceDifferences, mergeLines, post, trialBalance } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accrueShares } from './accrue.ts'
import { creatorDifferences, readCreatorBooks } from './check-books.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { proposeDistributor } from './distributors.ts'
import { followRoot } from './follow-root.ts'
import { playAdvances } from './played-advances.fixture.ts'
import type { DistributorState } from './read-distributor.ts'
import { reverseAccruals } from './reverse-accruals.ts'
import { signNextRoot } from './sign-root.ts'

/** The chain is played by the test: a root that was signed lands, or its time passes. The books must bear either. */
const db = await useTestDatabase()

const walletAt = (n: number): Address => `0x${(0xc0de_00 + n).toString(16).padStart(40, '0')}`
const day = 86_400
let chains = 8_453_000

type Sold = { id: string; wallet: Address; price: Micro; share: Micro; reversed: boolean }

async function openMarketOfOneChain() {
  chains += 1
  const network = `eip155:${chains}`
  let seconds = 1_800_000_000
  let state: DistributorState | undefined
  const clock: Clock = { ...systemClock, nowMs: () => seconds * 1000 }
  const final = () => ({ number: 100n, hash: '0x00' as const, timestamp: seconds })
  const advances = playAdvances(walletAt(998), walletAt(999))
  const place = {
    network: { caip2: network, chainId: chains, usdc: { address: walletAt(996) } },
    chain: {
      transfersIn: advances.transfersIn,
      network: { caip2: network },
      finalizedBlock: async () => final(),
      head: async () => final(),
      usdcBalance: async () => 1_000_000_000n,
    },
    rpc: playedRpc(async (method) => (method === 'eth_getLogs' ? advances.logs() : [])),
    key: { address: walletAt(999), authorizeReceipt: () => `0x${'11'.repeat(65)}` },
    contract: walletAt(998),
    treasurer: walletAt(999),
  } as unknown as CreatorChain
  const deps = {
    database: db.database,
    clock,
    log: silentLog,
    metrics: silentMetrics,
    settings: { rootMs: 1, rootMinimumMicro: 1n, leafMinimumMicro: 1n, leafWaitMs: 0 },
  } as unknown as CreatorDeps
  const terms = { mover: walletAt(997), claimDelaySeconds: 1, moveDelaySeconds: 1 }
  await proposeDistributor(db.database, { network, contract: place.contract, treasurer: place.treasurer, terms })
  const sales: Sold[] = []
  const sell = async (wallet: Address, price: Micro) => {
    const id = `pay_${network}_${sales.length}`
    const { share: toll, rest } = splitShare(price, 1_000n)
    const sale = { paymentId: id, network, payer: walletAt(997), round: 0, source: 'credit' as const, settledAtMs: 0 }
    const payee = {
      domain: `${'ab'[sales.length % 2]}.test`,
      registrable: 'a.test',
      wallet,
      claimId: 'c',
      citeScore: null,
      synthetic: false,
      reason: 'proven' as const,
    }
    await db.database.transaction(async (tx) => {
      const lines = await accrueShares(tx, sale, `att_${id}`, [{ payee, micro: rest, held: undefined }])
      await post(tx, [
        {
          reference: `split:${id}`,
          kind: 'split',
          paymentId: id,
          lines: mergeLines([
            { account: accounts.clearingPayments(network), amount: price },
            { account: accounts.revenue(network, 'cite.attest'), amount: -toll },
            ...lines,
          ]),
        },
      ])
    })
    sales.push({ id, wallet, price, share: rest, reversed: false })
  }
  const reverse = async (index: number) => {
    const sold = sales[index % Math.max(1, sales.length)]
    if (!sold || sold.reversed) return
    sold.reversed = true
    await db.database.transaction(async (tx) => {
      const lines = await reversalLines(tx, { id: sold.id, network, amountMicro: sold.price }, sold.price)
      await post(tx, [
        {
          reference: `reorg:${sold.id}`,
          kind: 'reorg',
          paymentId: sold.id,
          lines: [...lines, { account: accounts.clearingPayments(network), amount: -sold.price }],
        },
      ])
      const sale = { paymentId: sold.id, round: 0 } as Parameters<typeof reverseAccruals>[1]
      await reverseAccruals(tx, sale, { reason: 'reorg', micro: sold.price })
    })
  }
  const land = async () => {
    const epoch = await advances.landSigned(db.database, network, seconds)
    if (epoch === undefined) return
    const totalMicro = advances.totalMicro()
    state = { epoch, totalMicro, claimedMicro: 0n, balanceMicro: totalMicro }
    await followRoot(deps, place, final(), state)
  }
  return {
    network,
    sales,
    sell,
    reverse,
    land,
    sign: async () => {
      seconds += 10
      await signNextRoot(deps, place, final(), state)
    },
    giveUp: async () => {
      seconds += 2 * day
      await followRoot(deps, place, final(), state)
    },
    state: () => state,
  }
}

type Market = Awaited<ReturnType<typeof openMarketOfOneChain>>

async function committedOf({ network }: Market): Promise<Map<Address, Micro>> {
  const { rows } = await db.database.query<{ wallet: Address; micro: Micro }>(
    'select wallet, committed_micro as micro from creator_balance where network = $1',
    [network],
  )
  return new Map(rows.map(({ wallet, micro }) => [wallet, micro]))
}

async function expectSoundBooks(market: Market): Promise<void> {
  const books = await readCreatorBooks(db.database, market.network)
  expect(creatorDifferences(books, [market.state()])).toEqual({})
  const { sumByUnit } = await trialBalance(db.database)
  expect(sumByUnit[`${market.network}/usdc`] ?? 0n).toBe(0n)
  expect(await balanceDifferences(db.database)).toEqual([])
}

type Command = { kind: 'sell' | 'reverse' | 'sign' | 'land' | 'giveUp'; who: number; price: bigint }

const anyCommand: fc.Arbitrary<Command> = fc.record({
  kind: fc.constantFrom('sell', 'sell', 'sell', 'reverse', 'reverse', 'sign', 'land', 'giveUp'),
  who: fc.nat({ max: 40 }),
  price: fc.bigInt({ min: 10n, max: 20_000n }),
})

async function execute(market: Market, { kind, who, price }: Command): Promise<void> {
  if (kind === 'sell') return market.sell(walletAt(who % 3), price)
  if (kind === 'reverse') return market.reverse(who)
  return market[kind]()
}

test('whatever is sold, reversed, sent and given up: rows, ledger and contract agree, and nobody gets too much or too little', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCommand, { minLength: 4, maxLength: 30 }), async (commands) => {
      const market = await openMarketOfOneChain()
      let before = new Map<Address, Micro>()
      for (const command of commands) {
        await execute(market, command)
        await expectSoundBooks(market)
        const after = await committedOf(market)
        for (const [wallet, micro] of before) expect(after.get(wallet) ?? 0n).toBeGreaterThanOrEqual(micro)
        before = after
      }
      // In the end everything that can be paid is: what was earned and kept, or what had been paid out before.
      await market.land()
      const alreadyPaid = await committedOf(market)
      await market.sign()
      await market.land()
      await expectSoundBooks(market)
      const paid = await committedOf(market)
      for (const wallet of [0, 1, 2].map(walletAt)) {
        const kept = market.sales.filter((sale) => sale.wallet === wallet && !sale.reversed)
        const earned = kept.reduce((sum, { share }) => sum + share, 0n)
        const had = alreadyPaid.get(wallet) ?? 0n
        expect(paid.get(wallet) ?? 0n).toBe(earned > had ? earned : had)
      }
    }),
    { numRuns: 12 },
  )
}, 120_000)

test('a creator who was paid for a sale that was reversed later earns it off before the next payout', async () => {
  const market = await openMarketOfOneChain()
  const creator = walletAt(1)
  await market.sell(creator, 5_000n)
  await market.sign()
  await market.land()
  await market.reverse(0)
  const books = await readCreatorBooks(db.database, market.network)
  expect(books.receivableLedger).toBe(4_500n)
  await market.sell(creator, 5_000n)
  await market.sign()
  expect((await committedOf(market)).get(creator), 'the debt takes all of it').toBe(4_500n)
  await market.sell(creator, 5_000n)
  await market.sign()
  await market.land()
  expect((await committedOf(market)).get(creator)).toBe(9_000n)
  await expectSoundBooks(market)
  expect((await readCreatorBooks(db.database, market.network)).receivableLedger).toBe(0n)
})

test('a root that never lands leaves the shares open, and what was reversed meanwhile costs nobody anything', async () => {
  const market = await openMarketOfOneChain()
  await market.sell(walletAt(1), 5_000n)
  await market.sell(walletAt(2), 5_000n)
  await market.sign()
  await market.reverse(0)
  await expectSoundBooks(market)
  await market.giveUp()
  await expectSoundBooks(market)
  const { rows } = await db.database.query(
    'select state, micro from creator_accrual where network = $1 and wallet = $2 order by id',
    [market.network, walletAt(1)],
  )
  expect(rows).toEqual([
    { state: 'reversed', micro: 4_500n },
    { state: 'reversed', micro: -4_500n },
  ])
  await market.sell(walletAt(1), 1_000n)
  await market.sign()
  await market.land()
  const committed = await committedOf(market)
  expect([committed.get(walletAt(1)), committed.get(walletAt(2))]).toEqual([900n, 4_500n])
  await expectSoundBooks(market)
})
