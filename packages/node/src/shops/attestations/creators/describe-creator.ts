import type { Network } from '@assay/till/chain'
import { type Address, checksumAddress } from '@assay/till/kernel/address'
import { toHex } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Micro } from '@assay/till/kernel/money'
import type { Sql } from '@assay/till/store/database'
import { claimTree, cumulativeSql, currentRootSql } from './claim-tree.ts'
import { distributorFor } from './contracts.ts'
import { claimCall } from './push-claims.ts'

export type DescribeCreatorDeps = {
  database: Sql
  networks: readonly { network: Network; custody: Address }[]
  thresholdMicro: Micro
  nowMs(): number
}

type Sums = {
  accrued: Micro
  held: Micro
  committing: Micro
  committed: Micro
  /** In the root that the contract has now, final or not. */
  cumulative: Micro
  claimed: Micro
  threshold: Micro | null
  epoch: bigint | null
  root: Buffer | null
  transaction: string | null
}

/** What a creator earned, where it is, and how to fetch it without us. A wallet never seen has earned nothing. */
export async function describeCreator(deps: DescribeCreatorDeps, wallet: Address) {
  const chains = await Promise.all(
    deps.networks.map(({ network, custody }) => describeChain(deps, wallet, network, custody)),
  )
  const { rows: payouts } = await deps.database.query<{
    network: string
    transaction: string
    amount_micro: bigint
    claimed_at: Date
  }>(
    `select network, transaction, amount_micro, claimed_at from creator_claim where wallet = $1
     order by block_number desc limit 50`,
    [wallet],
  )
  const { rows: recent } = await deps.database.query<{
    subject: string
    domain: string
    micro: bigint
    state: string
    created_at: Date
  }>(
    `select subject, domain, micro, state, created_at from creator_accrual where wallet = $1 and not (micro < 0 and state = 'reversed')
     order by id desc limit 20`,
    [wallet],
  )
  return {
    wallet: checksumAddress(wallet),
    earned_micro: String(chains.reduce((sum, chain) => sum + BigInt(chain.earned_micro), 0n)),
    chains,
    payouts: payouts.map((row) => ({
      network: row.network,
      transaction: row.transaction,
      amount_micro: String(row.amount_micro),
      claimed_at: toRfc3339(row.claimed_at.getTime()),
    })),
    recent: recent.map((row) => ({
      id: row.subject,
      domain: row.domain,
      micro: String(row.micro),
      state: row.state,
      accrued_at: toRfc3339(row.created_at.getTime()),
    })),
  }
}

async function describeChain(deps: DescribeCreatorDeps, wallet: Address, network: Network, custody: Address) {
  const sums = await readSums(deps, wallet, network.caip2)
  const contract = distributorFor(network, custody).address
  const claimable = sums.cumulative - sums.claimed
  const available = sums.accrued - sums.held
  const place = { chainId: network.chainId, contract }
  const tree = claimable > 0n ? (await claimTree(deps.database, network.caip2, place)).tree : undefined
  const proof = tree?.proofOf(wallet)
  const cumulative = tree?.cumulativeOf(wallet) ?? 0n
  return {
    network: network.caip2,
    earned_micro: String(sums.accrued + sums.committing + sums.committed),
    accrued_micro: String(available > 0n ? available : 0n),
    owed_back_micro: String(available < 0n ? -available : 0n),
    held_micro: String(sums.held),
    committing_micro: String(sums.committing),
    committed_micro: String(sums.committed),
    claimed_micro: String(sums.claimed),
    claimable_micro: String(claimable),
    threshold_micro: String(sums.threshold ?? deps.thresholdMicro),
    distributor: checksumAddress(contract),
    root: sums.root && toHex(sums.root),
    epoch: sums.epoch === null ? null : String(sums.epoch),
    commit_transaction: sums.transaction,
    claim:
      proof === undefined
        ? null
        : {
            how: 'Anyone may send this transaction; the USDC goes to the creator, whoever pays the gas.',
            to: checksumAddress(contract),
            function: 'claimFor(address creator, uint256 cumulative, bytes32[] proof)',
            cumulative_micro: String(cumulative),
            proof,
            data: claimCall(wallet, cumulative, proof),
          },
  }
}

async function readSums({ database, nowMs }: DescribeCreatorDeps, wallet: Address, network: string): Promise<Sums> {
  const { rows } = await database.query<Sums>(
    `select open.*, coalesce(b.committed_micro, 0) as committed, coalesce(b.claimed_micro, 0) as claimed,
       coalesce(${cumulativeSql('r.landed')}, 0) as cumulative, r.epoch, r.root, r.transaction,
       (select threshold_micro from creator_setting where wallet = $1) as threshold
     from (select coalesce(sum(a.micro) filter (where a.state = 'accrued'), 0)::bigint as accrued,
         coalesce(sum(a.micro) filter (where a.state = 'accrued' and a.held_until > $3), 0)::bigint as held,
         coalesce(sum(a.micro) filter (where a.state = 'committing'), 0)::bigint as committing
       from creator_accrual a where a.wallet = $1 and a.network = $2 and a.state in ('accrued', 'committing')) open
     left join creator_balance b on b.network = $2 and b.wallet = $1
     left join (${currentRootSql('$2')}) r on true`,
    [wallet, network, new Date(nowMs())],
  )
  return rows[0] as Sums
}
