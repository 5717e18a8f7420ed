import type { Network } from '@assay/till/chain'
import type { Address } from '@assay/till/kernel/address'
import { fromHex, type Hex, toHex } from '@assay/till/kernel/bytes'
import { systemClock } from '@assay/till/kernel/clock'
import { keccak256 } from '@assay/till/kernel/keccak'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import type { Micro } from '@assay/till/kernel/money'
import { accounts, post } from '@assay/till/ledger'
import { openTestDatabase, type TestDatabase } from '@assay/till/store/testing'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accrueShares, mergeLines } from './accrue.ts'
import { distributorAbi, distributorFor } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { describeCreator } from './describe-creator.ts'
import { readPayouts } from './describe-payout.ts'
import { followRoot } from './follow-root.ts'
import { payoutLeafHash } from './payout-tree.ts'
import { playAdvances } from './played-advances.fixture.ts'
import type { DistributorState } from './read-distributor.ts'
import { signNextRoot } from './sign-root.ts'

/** The chain is played here: `latest` is what its newest block says, `final` what its final one says. */
let db: TestDatabase
beforeAll(async () => {
  db = await openTestDatabase()
})
afterAll(() => db.close())

const wallets: Address[] = [1, 2, 3].map((n) => `0x${(0xbeef_00 + n).toString(16).padStart(40, '0')}` as Address)
const custody: Address = `0x${'99'.repeat(20)}`
const network = {
  caip2: 'eip155:8453777',
  chainId: 8_453_777,
  usdc: { address: `0x${'88'.repeat(20)}` },
} as unknown as Network
const contract = distributorFor(network, custody).address
const clock = { ...systemClock, nowMs: () => 1_800_000_000_000 }
const finalBlock = { number: 100n, hash: '0x00' as const, timestamp: 1_800_000_000 }
let latestRoot: Hex = `0x${'00'.repeat(32)}`
let logsFail = false
const advances = playAdvances(contract, custody)
const place = {
  network,
  chain: {
    network,
    finalizedBlock: async () => finalBlock,
    head: async () => finalBlock,
    usdcBalance: async () => 1_000_000_000n,
    transfersIn: advances.transfersIn,
  },
  rpc: {
    first: async () => latestRoot,
    agreed: async () => {
      if (logsFail) throw new Error('no endpoint answers')
      return advances.logs()
    },
  },
  key: { address: custody, authorizeReceipt: () => `0x${'11'.repeat(65)}` },
  distributor: distributorFor(network, custody),
} as unknown as CreatorChain
const withDatabase = () =>
  ({
    database: db.database,
    clock,
    log: silentLog,
    metrics: silentMetrics,
    settings: { rootMs: 0, rootMinimumMicro: 1n },
  }) as unknown as CreatorDeps
const show = (wallet: Address) =>
  describeCreator(
    { database: db.database, networks: [{ network, custody }], thresholdMicro: 500_000n, nowMs: clock.nowMs },
    wallet,
  ).then(({ chains }) => chains[0] as (typeof chains)[number])

let sales = 0
async function sell(wallet: Address, micro: Micro): Promise<string> {
  sales += 1
  const paymentId = `pay_claim_tree_${sales}`
  const subject = `att_claim_tree_${sales}`
  const sale = {
    paymentId,
    network: network.caip2,
    payer: custody,
    round: 0,
    source: 'credit' as const,
    settledAtMs: 0,
  }
  const payee = {
    domain: 'a.test',
    registrable: 'a.test',
    wallet,
    claimId: 'c',
    citeScore: null,
    synthetic: false,
    reason: 'proven' as const,
  }
  await db.database.transaction(async (tx) => {
    const lines = await accrueShares(tx, sale, subject, [{ payee, micro, held: undefined }])
    const taken = { account: accounts.distributor(network.caip2), amount: micro }
    await post(tx, [
      { reference: `split:${paymentId}`, kind: 'opening', paymentId, lines: mergeLines([taken, ...lines]) },
    ])
  })
  return subject
}

/** What the contract computes in claimFor. */
function rootFrom(wallet: Address, cumulativeMicro: Micro, proof: readonly string[]): string {
  let hash = payoutLeafHash({ chainId: network.chainId, contract }, { wallet, cumulativeMicro })
  for (const step of proof) {
    const sibling = Buffer.from(fromHex(step as Hex))
    hash = keccak256(Buffer.concat(hash.compare(sibling) < 0 ? [hash, sibling] : [sibling, hash]))
  }
  return toHex(hash)
}

async function signed() {
  const { rows } = await db.database.query<{ root: Buffer; epoch: bigint; total: Micro }>(
    `select root, epoch, total_micro as total from creator_root where network = $1 and state = 'signed'`,
    [network.caip2],
  )
  return rows[0] as (typeof rows)[number]
}

let state: DistributorState | undefined
const round = () => followRoot(withDatabase(), place, finalBlock, state)
async function makeFinal(): Promise<void> {
  const { root, epoch, total } = await signed()
  state = { root, epoch, totalMicro: total, claimedMicro: 0n, balanceMicro: total }
  advances.land({ epoch, root, totalMicro: total })
  await round()
}

test('a creator can claim although the newest root is not final: the proof is of the root that the contract has', async () => {
  const [first, second, third] = wallets as [Address, Address, Address]
  const subject = await sell(first, 700n)
  await sell(second, 300n)
  await signNextRoot(withDatabase(), place, finalBlock, state)
  expect((await show(first)).claim).toBeNull()
  latestRoot = toHex((await signed()).root)
  await makeFinal()
  await sell(first, 50n)
  await sell(third, 90n)
  await signNextRoot(withDatabase(), place, finalBlock, state)
  await round()
  const before = await show(first)
  expect(before).toMatchObject({ committed_micro: '700', claimable_micro: '700', root: latestRoot })
  expect(rootFrom(first, 700n, before.claim?.proof ?? [])).toBe(latestRoot)

  latestRoot = toHex((await signed()).root)
  await round()
  const landed = await show(first)
  expect(landed).toMatchObject({ committed_micro: '700', claimable_micro: '750', root: latestRoot })
  expect(rootFrom(first, 750n, landed.claim?.proof ?? [])).toBe(latestRoot)
  expect(landed.claim?.data).toBe(
    encodeFunctionData({
      abi: distributorAbi,
      functionName: 'claimFor',
      args: [first, 750n, (landed.claim?.proof ?? []) as Hex[]],
    }),
  )
  const still = await show(second)
  expect(rootFrom(second, 300n, still.claim?.proof ?? [])).toBe(latestRoot)

  // A reorg takes it away again.
  latestRoot = before.root as Hex
  await round()
  expect(await show(first)).toMatchObject({ claimable_micro: '700', root: latestRoot })

  const [payout] = await readPayouts(db.database, subject, {
    nowMs: 0,
    waitMs: 0,
    releaseMs: 0,
    apiUrl: 'http://n.test',
  })
  expect(payout).toMatchObject({ state: 'committed', root: latestRoot, commit_transaction: advances.transactionOf(1n) })
  expect(payout?.merkle_proof).toMatchObject({ cumulative_micro: '700' })
  expect(rootFrom(first, 700n, payout?.merkle_proof?.proof ?? [])).toBe(payout?.root)
})

test('a root is not taken for committed without its transaction because an endpoint was silent', async () => {
  logsFail = true
  await expect(makeFinal()).rejects.toThrow('no endpoint answers')
  expect(await signed()).toBeDefined()
  logsFail = false
  await round()
  const { rows } = await db.database.query<{ transaction: string | null }>(
    `select transaction from creator_root where network = $1 and state = 'committed' order by id`,
    [network.caip2],
  )
  expect(rows.map(({ transaction }) => transaction)).toEqual([1n, 2n].map(advances.transactionOf))
})
