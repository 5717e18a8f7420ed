import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { type PayoutTree, payoutTree } from '@assay/protocol/payout-tree'
import type { BlockRef } from '@assay/till/chain'
import { fromHex } from '@assay/till/kernel/bytes'
import { nowSeconds } from '@assay/till/kernel/clock'
import { freeCustody } from '@assay/till/payouts'
import type { Tx } from '@assay/till/store/database'
import { newestRoot } from './adopt-root.ts'
import { type ChosenLeaf, chooseLeaves, type OpenShare } from './choose-leaves.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { acceptedDistributors } from './distributors.ts'
import type { DistributorState } from './read-distributor.ts'
import { insertLeaves } from './store-leaves.ts'

const sharesMax = 20_000
/** All leaves of a root are in the transaction that sets it. */
const leavesMax = 1_000
const validSeconds = 86_400

/**
 * Makes the next root from what is final, not held and not disputed, and signs the transfer of its pot. The signature is
 * stored before anything is sent; the debt stays in the books until the chain shows the root as final.
 */
export async function signNextRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  final: BlockRef,
  state: DistributorState | undefined,
): Promise<boolean> {
  const { database, settings } = deps
  const { caip2 } = place.network
  if (await tooSoon(deps, caip2)) return false
  const due = await readDue(deps, caip2, final)
  if (due.reduce((sum, { micro }) => sum + micro, 0n) < settings.rootMinimumMicro) return false
  const money = await freeCustody(database, place.chain, place.key.address)
  const { number: headBlock } = await place.chain.head()
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`creator root ${caip2}`])
    const wallets = due.map(({ wallet }) => wallet)
    const open = await readOpen(tx, openValues(deps, caip2, final), wallets)
    const chosen = chooseLeaves(open, leavesMax)
    if (chosen.potMicro < settings.rootMinimumMicro) return false
    const epoch = await nextEpoch(tx, place, state)
    const tree = payoutTree({ chainId: place.network.chainId, contract: place.contract, epoch }, chosen.leaves)
    if (!money.take({ purpose: 'creator', amountMicro: tree.potMicro })) {
      deps.metrics.count('alarms', { alarm: 'payouts_unfunded' })
      deps.log.error(
        { network: caip2, due_micro: tree.potMicro.toString() },
        'custody holds too little final money for a root',
      )
      return false
    }
    const totalMicro = (state?.totalMicro ?? 0n) + tree.potMicro
    const rootId = await insertSigned(deps, tx, place, { tree, epoch, totalMicro, headBlock })
    await insertLeaves(tx, { id: rootId, network: caip2, epoch }, tree, domainsOf(chosen.leaves))
    await tx.query(`update creator_accrual set state = 'committing', root_id = $2 where id = any($1::bigint[])`, [
      open.filter(({ wallet }) => chosen.wallets.has(wallet)).map(({ id }) => id),
      rootId,
    ])
    return true
  })
}

const domainsOf = (leaves: readonly ChosenLeaf[]) => new Map(leaves.map(({ account, domain }) => [account, domain]))

type NewRoot = { tree: PayoutTree; epoch: bigint; totalMicro: Micro; headBlock: bigint }

async function insertSigned(
  { clock }: CreatorDeps,
  tx: Tx,
  place: CreatorChain,
  { tree, epoch, totalMicro, headBlock }: NewRoot,
): Promise<bigint> {
  const validBefore = BigInt(nowSeconds(clock) + validSeconds)
  // The nonce is the root: as the contract has it, the authorization pays for these leaves in this epoch or for nothing.
  const signature = await place.key.authorizeReceipt(place.network, {
    from: place.key.address,
    to: place.contract,
    value: tree.potMicro,
    validAfter: 0n,
    validBefore,
    nonce: toHex(tree.root),
  })
  const { rows } = await tx.query<{ id: bigint }>(
    `insert into creator_root (network, contract, epoch, root, total_micro, pot_micro, leaves, valid_before, head_block,
       signature, state, signed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'signed', $11) returning id`,
    [
      place.network.caip2,
      place.contract,
      epoch,
      tree.root,
      totalMicro,
      tree.potMicro,
      tree.leaves.length,
      validBefore,
      headBlock,
      fromHex(signature),
      new Date(clock.nowMs()),
    ],
  )
  return rows[0]?.id as bigint
}

/** Throws when books and contract are not at the same epoch: nothing is signed on a guess. */
async function nextEpoch(tx: Tx, place: CreatorChain, state: DistributorState | undefined): Promise<bigint> {
  const network = place.network.caip2
  const [current] = await acceptedDistributors(tx, network)
  if (current?.contract !== place.contract)
    throw new Error(`${place.contract} is not the accepted distributor of ${network}`)
  const known = await newestRoot(tx, place)
  const [epoch, total] = [state?.epoch ?? 0n, state?.totalMicro ?? 0n]
  if (known.epoch !== epoch || known.totalMicro !== total)
    throw new Error(`the books of ${network} know epoch ${known.epoch}, the distributor is at ${epoch}`)
  return epoch + 1n
}

async function tooSoon({ database, clock, settings }: CreatorDeps, network: string): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean; newest: Date | null }>(
    `select exists (select from creator_root where network = $1 and state = 'signed') as open,
       max(signed_at) filter (where state = 'committed') as newest
     from creator_root where network = $1 and signed_at > $2`,
    [network, new Date(clock.nowMs() - settings.rootMs)],
  )
  return rows[0]?.open === true || (rows[0]?.newest ?? null) !== null
}

/** Only money that can no longer be taken away, for creators that nobody disputes, and whose wallet is not being moved. */
const openSql = `from creator_accrual a where a.network = $1 and a.state = 'accrued'
  and (a.held_until is null or a.held_until <= $2)
  and (a.micro < 0 or case a.source
    when 'payment' then exists (select from payment p where p.id = a.payment_id and p.final and p.state = 'served')
    else a.created_at < $3 end)
  and (a.micro < 0 or not exists (select from attestation t where t.id = a.subject and t.checked_at is null))
  and not exists (select from payout_hold h where h.network = a.network and h.payee = a.wallet)
  and not exists (select from creator_move m where m.network = a.network and m.wallet = a.wallet
    and m.domain = coalesce(a.payee_domain, a.domain) and m.state in ('asked', 'pending'))
  and not exists (select from source s where s.domain = coalesce(a.payee_domain, a.domain)
    and s.state in ('disputed', 'held', 'refused'))`

const openValues = ({ clock }: CreatorDeps, network: string, final: BlockRef) => [
  network,
  new Date(clock.nowMs()),
  new Date(final.timestamp * 1000),
]

/** A leaf costs gas twice, so a creator gets one from a minimum on, or when something has waited long enough. */
async function readDue(
  deps: CreatorDeps,
  network: string,
  final: BlockRef,
): Promise<{ wallet: Address; micro: Micro }[]> {
  const { settings, clock, database } = deps
  const { rows } = await database.query<{ wallet: Address; micro: Micro }>(
    `select a.wallet, sum(a.micro)::bigint as micro ${openSql} group by a.wallet
     having sum(a.micro) > 0 and (sum(a.micro) >= $4 or min(a.created_at) filter (where a.micro > 0) <= $5)
     order by min(a.created_at) limit ${leavesMax}`,
    [...openValues(deps, network, final), settings.leafMinimumMicro, new Date(clock.nowMs() - settings.leafWaitMs)],
  )
  return rows
}

async function readOpen(tx: Tx, values: unknown[], wallets: readonly Address[]): Promise<OpenShare[]> {
  const { rows } = await tx.query<OpenShare>(
    `select a.id, a.wallet, coalesce(a.payee_domain, a.domain) as domain, a.micro ${openSql} and a.wallet = any($4)
     order by a.micro > 0, a.id limit ${sharesMax} for update of a`,
    [...values, wallets],
  )
  return rows
}
