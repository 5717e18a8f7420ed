import { type Address, checksumAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { accountOf, payoutLeafHash } from '@assay/protocol/payout-tree'
import type { Network } from '@assay/till/chain'
import { playedRpc } from '@assay/till/chain/played-rpc.fixture'
import { fromHex } from '@assay/till/kernel/bytes'
import { systemClock } from '@assay/till/kernel/clock'
import { keccak256 } from '@assay/till/kernel/keccak'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { mergeLines, post } from '@assay/till/ledger'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { decodeFunctionData } from 'viem'
import { expect, test } from 'vitest'
import { creatorAccounts } from '../accounts.ts'
import { accrueShares } from './accrue.ts'
import { distributorAbi, distributorFor } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { describeCreator } from './describe-creator.ts'
import { readPayouts } from './describe-payout.ts'
import { acceptDistributor, proposeDistributor } from './distributors.ts'
import { followRoot } from './follow-root.ts'
import { openRoots } from './open-roots.ts'
import { playAdvances } from './played-advances.fixture.ts'
import type { DistributorState } from './read-distributor.ts'
import { signNextRoot } from './sign-root.ts'

const wallets: Address[] = [1, 2, 3].map((n) => `0x${(0xbeef_00 + n).toString(16).padStart(40, '0')}` as Address)
const custody: Address = `0x${'99'.repeat(20)}`
const network = {
  caip2: 'eip155:8453777',
  chainId: 8_453_777,
  usdc: { address: `0x${'88'.repeat(20)}` },
} as unknown as Network
const terms = { mover: custody, claimDelaySeconds: 100, moveDelaySeconds: 1_000 }
const contract = distributorFor(network, custody, terms).address
const db = await useTestDatabase()
await proposeDistributor(db.database, { network: network.caip2, contract, treasurer: custody, terms })
const clock = { ...systemClock, nowMs: () => 1_800_000_000_000 }
const finalBlock = { number: 100n, hash: '0x00' as const, timestamp: 1_800_000_000 }
let logsFail = false
const advances = playAdvances(contract, custody)
/** The chain is played here. */
const place = {
  network,
  chain: {
    network,
    finalizedBlock: async () => finalBlock,
    head: async () => finalBlock,
    usdcBalance: async () => 1_000_000_000n,
    transfersIn: advances.transfersIn,
  },
  rpc: playedRpc(async (method) => {
    if (method !== 'eth_getLogs') return '0x'
    if (logsFail) throw new Error('no endpoint answers')
    return advances.logs()
  }),
  key: { address: custody, authorizeReceipt: () => `0x${'11'.repeat(65)}` },
  contract,
  treasurer: custody,
} as unknown as CreatorChain
const withDatabase = () =>
  ({
    database: db.database,
    clock,
    log: silentLog,
    metrics: silentMetrics,
    settings: { rootMs: 0, rootMinimumMicro: 1n, leafMinimumMicro: 1n, leafWaitMs: 0 },
  }) as unknown as CreatorDeps
const show = (wallet: Address) =>
  describeCreator(
    { database: db.database, networks: [{ network, custody }], terms, thresholdMicro: 500_000n, nowMs: clock.nowMs },
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
    const taken = { account: creatorAccounts.distributor(network.caip2), amount: micro }
    await post(tx, [
      { reference: `split:${paymentId}`, kind: 'opening', paymentId, lines: mergeLines([taken, ...lines]) },
    ])
  })
  return subject
}

/** What the contract computes. */
function rootFrom(wallet: Address, epoch: bigint, micro: Micro, proof: readonly string[]): string {
  const leaf = { account: accountOf('a.test'), wallet, micro }
  let hash: Buffer = Buffer.from(payoutLeafHash({ chainId: network.chainId, contract, epoch }, leaf))
  for (const step of proof) {
    const sibling = Buffer.from(fromHex(step as Hex))
    hash = keccak256(Buffer.concat(hash.compare(sibling) < 0 ? [hash, sibling] : [sibling, hash]))
  }
  return toHex(hash)
}

async function rootOf(epoch: bigint): Promise<string> {
  const { rows } = await db.database.query<{ root: Buffer }>(
    'select root from creator_root where network = $1 and epoch = $2',
    [network.caip2, epoch],
  )
  return toHex(rows[0]?.root as Buffer)
}

let state: DistributorState | undefined
const round = () => followRoot(withDatabase(), place, finalBlock, state)
/** The signed root is in a final block; its delay is over at `opensAt`. */
async function makeFinal(opensAt = finalBlock.timestamp): Promise<void> {
  const epoch = await advances.landSigned(db.database, network.caip2, opensAt)
  const totalMicro = advances.totalMicro()
  state = { epoch: epoch as bigint, totalMicro, claimedMicro: 0n, balanceMicro: totalMicro }
  await round()
}
const open = () => openRoots(withDatabase(), place, finalBlock)

test('what an epoch allots can be claimed once its delay is over, with the proof of that epoch, whatever comes after', async () => {
  const [first, second, third] = wallets as [Address, Address, Address]
  const subject = await sell(first, 700n)
  await sell(second, 300n)
  await signNextRoot(withDatabase(), place, finalBlock, state)
  expect((await show(first)).claims).toEqual([])
  await makeFinal(finalBlock.timestamp + 1)
  await open()
  expect(await show(first)).toMatchObject({ committed_micro: '700', claimable_micro: '0', claims: [] })
  await db.owner.query('update creator_root set opens_at = $1', [new Date(finalBlock.timestamp * 1000)])
  await open()
  await open()
  const shown = await show(first)
  expect(shown).toMatchObject({ committed_micro: '700', claimable_micro: '700' })
  expect(rootFrom(first, 1n, 700n, shown.claims[0]?.leaves[0]?.proof ?? [])).toBe(await rootOf(1n))

  await sell(first, 50n)
  await sell(third, 90n)
  await signNextRoot(withDatabase(), place, finalBlock, state)
  await makeFinal()
  await open()
  const both = await show(first)
  expect(both).toMatchObject({ committed_micro: '750', claimable_micro: '750' })
  expect(both.claims.map(({ domain, micro }) => ({ domain, micro }))).toEqual([{ domain: 'a.test', micro: '750' }])
  const { functionName, args } = decodeFunctionData({ abi: distributorAbi, data: both.claims[0]?.data as Hex })
  const [account, wallet, claims] = args as [Hex, Address, { epoch: bigint; amount: bigint; proof: Hex[] }[]]
  expect([functionName, account, wallet.toLowerCase()]).toEqual(['claimMany', accountOf('a.test'), first])
  for (const { epoch, amount, proof } of claims) expect(rootFrom(first, epoch, amount, proof)).toBe(await rootOf(epoch))
  expect(claims.map(({ amount }) => amount)).toEqual([700n, 50n])

  const [payout] = await readPayouts(db.database, subject, {
    nowMs: 0,
    waitMs: 0,
    releaseMs: 0,
    apiUrl: 'http://n.test',
  })
  expect(payout).toMatchObject({ state: 'committed', epoch: '1', commit_transaction: advances.transactionOf(1n) })
  expect(rootFrom(first, 1n, 700n, payout?.merkle_proof?.proof ?? [])).toBe(payout?.root)
})

test('a root is not taken for committed without its transaction because an endpoint was silent', async () => {
  await sell(wallets[0] as Address, 10n)
  await signNextRoot(withDatabase(), place, finalBlock, state)
  logsFail = true
  await expect(makeFinal()).rejects.toThrow('no endpoint answers')
  logsFail = false
  await round()
  const { rows } = await db.database.query<{ transaction: string | null }>(
    `select transaction from creator_root where network = $1 and state = 'committed' order by id`,
    [network.caip2],
  )
  expect(rows.map(({ transaction }) => transaction)).toEqual([1n, 2n, 3n].map(advances.transactionOf))
})

test('a creator gets a leaf from the minimum on, or when something has waited long enough', async () => {
  const [small, large] = [4, 5].map((n) => `0x${(0xbeef_00 + n).toString(16).padStart(40, '0')}` as Address) as [
    Address,
    Address,
  ]
  const deps = withDatabase()
  deps.settings = { ...deps.settings, leafMinimumMicro: 100n, leafWaitMs: 10 ** 13 }
  await sell(small, 99n)
  await sell(large, 100n)
  const leaves = async () => {
    const { rows } = await db.database.query<{ wallet: Address }>(
      `select l.wallet from creator_leaf l join creator_root r on r.id = l.root_id where r.state = 'signed'`,
    )
    return rows.map(({ wallet }) => wallet)
  }
  await signNextRoot(deps, place, finalBlock, state)
  expect(await leaves()).toEqual([large])
  await makeFinal()
  deps.settings = { ...deps.settings, leafWaitMs: 1_000 }
  await signNextRoot(deps, place, finalBlock, state)
  expect(await leaves()).toEqual([small])
  await makeFinal()
})

test('nothing is signed for another contract until the operator accepts it, and then its epochs begin again', async () => {
  const wallet = wallets[0] as Address
  await sell(wallet, 10n)
  const changed = { ...terms, claimDelaySeconds: 1 }
  const other = { ...place, contract: distributorFor(network, custody, changed).address }
  const wanted = { network: network.caip2, contract: other.contract, treasurer: custody, terms: changed }
  const sign = () => signNextRoot(withDatabase(), other, finalBlock, undefined)
  await expect(sign()).rejects.toThrow('not the accepted distributor')
  const by = { actor: 'test', reason: 'another delay' }
  await expect(acceptDistributor(db.database, wanted, by)).rejects.toThrow('no process of this node')
  await proposeDistributor(db.database, wanted)
  await expect(sign()).rejects.toThrow('not the accepted distributor')
  expect(await show(wallet)).toMatchObject({ distributor: checksumAddress(contract), earlier_distributors: [] })
  expect(await acceptDistributor(db.database, wanted, by)).toEqual({ before: contract, after: other.contract })
  expect(await acceptDistributor(db.database, wanted, by)).toBeUndefined()
  expect(await sign()).toBe(true)
  const { rows } = await db.database.query<{ contract: Address; epoch: bigint }>(
    `select contract, epoch from creator_root where state = 'signed'`,
  )
  expect(rows).toEqual([{ contract: other.contract, epoch: 1n }])
  const shown = await show(wallet)
  expect(shown).toMatchObject({
    distributor: checksumAddress(other.contract),
    earlier_distributors: [checksumAddress(contract)],
  })
  for (const { to } of shown.claims) expect(to).toBe(checksumAddress(contract))
  const audited = await db.database.query<{ details: unknown }>(
    `select details from audit_log where action = 'creators.distributor'`,
  )
  expect(audited.rows).toEqual([{ details: { before: contract, after: other.contract, reason: 'another delay' } }])
})
