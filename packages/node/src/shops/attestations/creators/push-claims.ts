import type { Address } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { aggregate3Call, readAggregate3 } from '@assay/till/chain/wallet'
import type { Sql } from '@assay/till/store/database'
import { encodeFunctionData } from 'viem'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { unpackProof } from './pack-proof.ts'

const walletsAtOnce = 100
const leavesAtOnce = 300
/** In one call: one claim that cannot be paid must not cost too much gas. */
const leavesPerCall = 100
const gasOfCall = 120_000n
const gasOfLeaf = 30_000n

export type OpenLeaf = {
  contract: Address
  wallet: Address
  account: Hex
  domain: string | null
  epoch: bigint
  micro: Micro
  proof: Hex[]
}

/** Leaves of one domain and wallet in one contract: what one call claims. */
export type ClaimGroup = Pick<OpenLeaf, 'contract' | 'wallet' | 'account' | 'domain'> & { leaves: OpenLeaf[] }

export function claimCall({ account, wallet, leaves }: ClaimGroup): Hex {
  const claims = leaves.map(({ epoch, micro, proof }) => ({ epoch, amount: micro, proof }))
  return encodeFunctionData({ abi: distributorAbi, functionName: 'claimMany', args: [account, wallet, claims] })
}

/**
 * What the contracts pay now, oldest first. While a move is pending only the wallet itself can claim; leaves of before
 * a move and of after it go to different wallets, and are apart.
 */
export async function readClaimable(
  sql: Sql,
  network: string,
  wallets: readonly Address[],
  leavesPerWallet: number,
): Promise<ClaimGroup[]> {
  const { rows } = await sql.query<
    Omit<OpenLeaf, 'account' | 'proof'> & { account: Buffer; proof: Buffer; moved: boolean }
  >(
    `select l.contract, l.wallet, l.account, l.domain, l.epoch, l.micro, l.proof,
       coalesce(m.state = 'moved' and l.epoch <= m.until_epoch, false) as moved
     from unnest($2::text[]) with ordinality w (wallet, place) cross join lateral (
       select u.*, r.contract from creator_leaf u join creator_root r on r.id = u.root_id and r.opened
       where u.network = $1 and u.wallet = w.wallet and u.claim_transaction is null
       order by u.account, u.epoch limit $3) l
     left join creator_move m on m.network = l.network and m.account = l.account and m.wallet = l.wallet
       and m.contract = l.contract
     where m.state is null or m.state <> 'pending' or l.epoch > m.until_epoch
     order by w.place, l.account, l.epoch`,
    [network, wallets, leavesPerWallet],
  )
  const groups = new Map<string, ClaimGroup>()
  for (const row of rows) {
    const leaf = { ...row, account: toHex(row.account), proof: unpackProof(row.proof) }
    const key = [leaf.contract, leaf.wallet, leaf.account, row.moved].join(' ')
    const { contract, wallet, account, domain } = leaf
    const group = groups.get(key) ?? { contract, wallet, account, domain, leaves: [] }
    groups.set(key, group)
    group.leaves.push(leaf)
  }
  return [...groups.values()].flatMap(inCalls)
}

function inCalls(group: ClaimGroup): ClaimGroup[] {
  const count = Math.ceil(group.leaves.length / leavesPerCall)
  return Array.from({ length: count }, (_, n) => ({
    ...group,
    leaves: group.leaves.slice(n * leavesPerCall, (n + 1) * leavesPerCall),
  }))
}

/** Sends creators what they have on chain once it has reached their threshold: a claim in their name, never a transfer. */
export async function pushClaims(deps: CreatorDeps, place: CreatorChain): Promise<number> {
  const { caip2: network, multicall3 } = place.network
  const due = await readDue(deps, network)
  if (due.length === 0) return 0
  const groups = upTo(leavesAtOnce, await readClaimable(deps.database, network, due, leavesPerCall))
  const calls = groups.map((group) => ({ group, target: group.contract, data: claimCall(group) }))
  // What was claimed recently, or cannot be received, is left out: it would only cost gas.
  const passing = await simulate(place, calls)
  await postpone(deps, network, groups, passing)
  if (passing.length === 0) return 0
  const leaves = passing.reduce((sum, { group }) => sum + group.leaves.length, 0)
  const sent = await place.wallets.send({
    purpose: 'creator_claim',
    references: [...new Set(passing.map(({ group }) => `creator_claim:${group.wallet}`))],
    to: multicall3,
    data: aggregate3Call(passing),
    gasLimit: 100_000n + gasOfCall * BigInt(passing.length) + gasOfLeaf * BigInt(leaves),
    stillWanted: () => true,
  })
  if (sent.status === 'not_sent') {
    deps.log.warn({ network, reason: sent.reason }, 'claims of creators were not sent')
    return 0
  }
  await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
  return leaves
}

function upTo(leavesMax: number, groups: readonly ClaimGroup[]): ClaimGroup[] {
  let leaves = 0
  return groups.filter((group) => {
    leaves += group.leaves.length
    return leaves <= leavesMax
  })
}

const postponeMs = 600_000

/** A wallet of which nothing passes, such as a blocked one, keeps its money claimable and takes no turn for a while. */
async function postpone(
  { database, clock }: CreatorDeps,
  network: string,
  groups: readonly ClaimGroup[],
  passing: readonly { group: ClaimGroup }[],
): Promise<void> {
  const paid = new Set(passing.map(({ group }) => group.wallet))
  const failing = [...new Set(groups.map(({ wallet }) => wallet))].filter((wallet) => !paid.has(wallet))
  if (failing.length === 0) return
  await database.query('update creator_balance set push_after = $3 where network = $1 and wallet = any($2)', [
    network,
    failing,
    new Date(clock.nowMs() + postponeMs),
  ])
}

/** By their running sums: a wallet with its own threshold is asked for by that, all others by the usual one. */
async function readDue({ database, settings, clock }: CreatorDeps, network: string): Promise<Address[]> {
  const { rows } = await database.query<{ wallet: Address }>(
    `select b.wallet from (
       select b.* from creator_balance b where b.network = $1 and b.opened_micro - b.claimed_micro >= $2
         and not exists (select from creator_setting s where s.wallet = b.wallet)
       union all
       select b.* from creator_setting s join creator_balance b on b.network = $1 and b.wallet = s.wallet
         where b.opened_micro - b.claimed_micro >= s.threshold_micro) b
     where b.push_after <= $4 and not exists (select from payout_hold h where h.network = b.network and h.payee = b.wallet)
       and not exists (select from settlement_transaction t where t.network = b.network and t.purpose = 'creator_claim'
         and t.state in ('signed', 'broadcast') and t.reference_ids @> array['creator_claim:' || b.wallet])
     order by b.opened_micro - b.claimed_micro desc limit $3`,
    [network, settings.thresholdMicro, walletsAtOnce, new Date(clock.nowMs())],
  )
  return rows.map(({ wallet }) => wallet)
}

async function simulate<Call extends { target: Address; data: Hex }>(
  place: CreatorChain,
  calls: readonly Call[],
): Promise<Call[]> {
  if (calls.length === 0) return []
  const answer = await place.rpc.first('eth_call', [
    { from: place.wallets.addresses[0], to: place.network.multicall3, data: aggregate3Call(calls) },
    'latest',
  ])
  const results = readAggregate3(answer, calls.length)
  return calls.filter((_, index) => results?.[index]?.success === true)
}
