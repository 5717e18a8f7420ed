import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Network } from '@assay/till/chain'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import { readMoves } from './ask-move.ts'
import { type DistributorTerms, distributorFor } from './contracts.ts'
import { acceptedDistributors } from './distributors.ts'
import { claimCall, readClaimable } from './push-claims.ts'

export type DescribeCreatorDeps = {
  database: Sql
  networks: readonly { network: Network; custody: Address }[]
  terms: DistributorTerms
  thresholdMicro: Micro
  nowMs(): number
}

type Sums = {
  accrued: Micro
  held: Micro
  committing: Micro
  committed: Micro
  /** The part of `committed` that can be claimed from the contract now. */
  opened: Micro
  claimed: Micro
  threshold: Micro | null
}

/** The contract takes as many in a call; what is left is shown once these are claimed. */
const claimsShown = 100

/** What a creator earned, where it is, and how to fetch it without us. A wallet never seen has earned nothing. */
export async function describeCreator(deps: DescribeCreatorDeps, wallet: Address) {
  const chains = await Promise.all(
    deps.networks.map(({ network, custody }) => describeChain(deps, wallet, network, custody)),
  )
  const { rows: payouts } = await deps.database.query<{
    network: string
    transaction: string
    payee: Address
    amount_micro: bigint
    claimed_at: Date
  }>(
    `select network, transaction, payee, amount_micro, claimed_at from creator_claim where wallet = $1
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
    // A range, though it is one wallet: by equality the planner may walk all shares backwards until it has met twenty.
    `select subject, domain, micro, state, created_at from creator_accrual
     where wallet between $1 and $1 and not (micro < 0 and state = 'reversed') order by wallet, id desc limit 20`,
    [wallet],
  )
  return {
    wallet: checksumAddress(wallet),
    earned_micro: String(chains.reduce((sum, chain) => sum + BigInt(chain.earned_micro), 0n)),
    chains,
    moves: await readMoves(deps.database, wallet),
    payouts: payouts.map((row) => ({
      network: row.network,
      transaction: row.transaction,
      payee: checksumAddress(row.payee),
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
  const contracts = (await acceptedDistributors(deps.database, network.caip2)).map(({ contract }) => contract)
  const [current = distributorFor(network, custody, deps.terms).address, ...earlier] = contracts
  const claimable = sums.opened - sums.claimed
  const available = sums.accrued - sums.held
  const groups = claimable > 0n ? await readClaimable(deps.database, network.caip2, [wallet], claimsShown) : []
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
    distributor: checksumAddress(current),
    earlier_distributors: earlier.map(checksumAddress),
    claims: groups.map((group) => ({
      how: 'Anyone may send this transaction and pay its gas. The USDC always goes to the creator.',
      to: checksumAddress(group.contract),
      function: 'claimMany(bytes32 account, address wallet, (uint64 epoch, uint64 amount, bytes32[] proof)[] claims)',
      domain: group.domain,
      account: group.account,
      micro: String(group.leaves.reduce((sum, { micro }) => sum + micro, 0n)),
      leaves: group.leaves.map(({ epoch, micro, proof }) => ({ epoch: String(epoch), micro: String(micro), proof })),
      data: claimCall(group),
    })),
  }
}

async function readSums({ database, nowMs }: DescribeCreatorDeps, wallet: Address, network: string): Promise<Sums> {
  const { rows } = await database.query<Sums>({
    name: 'creator_sums',
    text: `select open.*, coalesce(b.committed_micro, 0) as committed, coalesce(b.opened_micro, 0) as opened,
        coalesce(b.claimed_micro, 0) as claimed,
        (select threshold_micro from creator_setting where wallet = $1) as threshold
      from (select coalesce(sum(a.micro) filter (where a.state = 'accrued'), 0)::bigint as accrued,
          coalesce(sum(a.micro) filter (where a.state = 'accrued' and a.held_until > $3), 0)::bigint as held,
          coalesce(sum(a.micro) filter (where a.state = 'committing'), 0)::bigint as committing
        from creator_accrual a where a.wallet = $1 and a.network = $2 and a.state in ('accrued', 'committing')) open
      left join creator_balance b on b.network = $2 and b.wallet = $1`,
    values: [wallet, network, new Date(nowMs())],
  })
  return rows[0] as Sums
}
