import { accrueShares } from '../../packages/node/src/shops/attestations/creators/accrue.ts'
import { distributorFor } from '../../packages/node/src/shops/attestations/creators/contracts.ts'
import { demoTerms } from '../../packages/node/src/shops/attestations/creators/demo-terms.fixture.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { knownNetworks, type Network } from '../../packages/till/src/chain/index.ts'
import { demoAccount } from '../../packages/till/src/devnet/accounts.ts'
import { accounts, mergeLines, post } from '../../packages/till/src/ledger/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { tokenBalance } from '../../test/harness/token-balance.ts'
import type { Cluster } from '../scale/cluster.ts'

export const network = 'eip155:8453'
export const usd = 1_000_000n
export const payees = [1, 2, 3].map((n): Address => `0x${(0xd111_00 + n).toString(16).padStart(40, '0')}`)
export const creator: Address = `0x${'d2'.repeat(20)}`

let debts = 0

/** A royalty that the operator owes, from the stake at the custody wallet. */
export async function oweRoyalty(database: Database, payee: Address, micro: bigint): Promise<void> {
  debts += 1
  await post(database, [
    {
      reference: `drill:royalty:${debts}`,
      kind: 'drill',
      lines: [
        { account: accounts.operator(network, 'usdc'), amount: micro },
        { account: accounts.payable(network, payee, 'royalty'), amount: -micro },
      ],
    },
  ])
}

/** A creator's share of a sale, paid from the same stake. */
export async function oweCreator(database: Database, micro: bigint): Promise<void> {
  debts += 1
  const paymentId = `pay_drill_${debts}`
  const sale = { paymentId, network, payer: creator, round: 0, source: 'credit' as const, settledAtMs: 0 }
  const payee = {
    domain: 'drill.test',
    registrable: 'drill.test',
    wallet: creator,
    claimId: 'drill',
    citeScore: null,
    synthetic: true,
    reason: 'proven' as const,
  }
  await database.transaction(async (tx) => {
    const lines = await accrueShares(tx, sale, `att_drill_${debts}`, [{ payee, micro, held: undefined }])
    const stake = { account: accounts.operator(network, 'usdc'), amount: micro }
    await post(tx, [
      { reference: `drill:${paymentId}`, kind: 'drill', paymentId, lines: mergeLines([stake, ...lines]) },
    ])
  })
}

/** What the chain says that left: each payee's balance, the distributor's included. */
export async function moneyOut({ base }: Cluster): Promise<bigint[]> {
  const known = knownNetworks.find(({ caip2 }) => caip2 === network) as Network
  const demo = { ...known, usdc: { ...known.usdc, address: base.usdc } }
  const distributor = distributorFor(demo, demoAccount('custody').address, demoTerms).address
  const [inContract = 0n, claimed = 0n, ...rest] = await Promise.all(
    [distributor, creator, ...payees].map((address) => tokenBalance(base, address)),
  )
  return [inContract + claimed, ...rest]
}

/** Nothing is queued, signed or owed to these payees, and the creator's shares are in a committed root. */
export async function isPaidOut(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ open: bigint }>(
    `select (select count(*) from payout where state not in ('paid', 'returned'))
       + (select count(*) from ledger_account a join ledger_balance b on b.account_id = a.id
          where a.name like 'payable:royalty:%' and b.owed_micro >= 10000000)
       + (select count(*) from creator_root where state = 'signed')
       + (select count(*) from creator_accrual where state in ('accrued', 'committing') and micro > 0) as open`,
  )
  return rows[0]?.open === 0n
}

/** A restore was noticed on both chains, and reconciled. */
export async function isReconciled(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ noticed: bigint; open: bigint }>(
    `select count(distinct network) as noticed, count(*) filter (where reconciled_at is null) as open from restore_gap`,
  )
  return rows[0]?.noticed === 2n && rows[0].open === 0n
}
