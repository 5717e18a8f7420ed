import type { BlockRef } from '@assay/till/chain'
import type { Address } from '@assay/till/kernel/address'
import { fromHex, type Hex, toHex } from '@assay/till/kernel/bytes'
import { nowSeconds } from '@assay/till/kernel/clock'
import { keccak256 } from '@assay/till/kernel/keccak'
import type { Micro } from '@assay/till/kernel/money'
import { freeCustody } from '@assay/till/payouts'
import type { Sql, Tx } from '@assay/till/store/database'
import { encodeAbiParameters } from 'viem'
import { type NewestRoot, newestRoot } from './adopt-root.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { type PayoutLeaf, type PayoutTree, payoutTree } from './payout-tree.ts'
import type { DistributorState } from './read-distributor.ts'

const accrualsMax = 20_000
const creatorsMax = 5_000
const validSeconds = 86_400

type Open = { id: bigint; wallet: Address; micro: Micro }

/**
 * Makes the next root from what is final, not held and not disputed, and signs the transfer that backs it. The
 * signature is stored before anything is sent; the debt stays in the books until the chain shows the root as final.
 */
export async function signNextRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  final: BlockRef,
  state: DistributorState | undefined,
): Promise<boolean> {
  const { database, settings, clock } = deps
  const { caip2 } = place.network
  if (await tooSoon(deps, caip2)) return false
  const due = await sumOpen(database, caip2, final, clock.nowMs())
  if (due < settings.rootMinimumMicro) return false
  const money = await freeCustody(database, place.chain, place.key.address)
  const { number: headBlock } = await place.chain.head()
  return database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`creator root ${caip2}`])
    const open = await readOpen(tx, caip2, final, clock.nowMs())
    const chosen = chooseCreators(open)
    const gained = [...chosen.values()].reduce((sum, micro) => sum + micro, 0n)
    if (gained < settings.rootMinimumMicro) return false
    const leaves = await nextLeaves(tx, caip2, chosen)
    const tree = payoutTree({ chainId: place.network.chainId, contract: place.distributor.address }, leaves)
    const before = state ?? { root: Buffer.alloc(32), epoch: 0n, totalMicro: 0n }
    const known = await newestRoot(tx, place)
    const { total, increase, unassigned } = nextTotal(caip2, { before, known, treeMicro: tree.totalMicro, gained })
    if (!money.take({ purpose: 'creator', amountMicro: increase })) {
      deps.metrics.count('alarms', { alarm: 'payouts_unfunded' })
      deps.log.error(
        { network: caip2, due_micro: increase.toString() },
        'custody holds too little final money for a root',
      )
      return false
    }
    const validBefore = BigInt(nowSeconds(clock) + validSeconds)
    const signature = place.key.authorizeReceipt(place.network, {
      from: place.key.address,
      to: place.distributor.address,
      value: increase,
      validAfter: 0n,
      validBefore,
      nonce: rootNonce(place, before.epoch, before.root, tree.root, total),
    })
    const { rows } = await tx.query<{ id: bigint }>(
      `insert into creator_root (network, contract, epoch, root, total_micro, increase_micro, unassigned_micro, creators,
         valid_before, head_block, signature, state, signed_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'signed', $12) returning id`,
      [
        caip2,
        place.distributor.address,
        before.epoch + 1n,
        tree.root,
        total,
        increase,
        unassigned,
        chosen.size,
        validBefore,
        headBlock,
        fromHex(signature),
        new Date(clock.nowMs()),
      ],
    )
    const rootId = rows[0]?.id as bigint
    await keepLeaves(tx, caip2, rootId, tree, leaves, chosen)
    await tx.query(`update creator_accrual set state = 'committing', root_id = $2 where id = any($1::bigint[])`, [
      open.filter(({ wallet }) => chosen.has(wallet)).map(({ id }) => id),
      rootId,
    ])
    return true
  })
}

type Totals = {
  before: { epoch: bigint; totalMicro: Micro }
  known: NewestRoot
  treeMicro: Micro
  gained: Micro
}

/**
 * What the contract holds unassigned pays first; a root must add something, so at least one micro is pulled. Throws when
 * books and contract are not at the same root: nothing is signed on a guess.
 */
function nextTotal(network: string, { before, known, treeMicro, gained }: Totals) {
  if (known.epoch !== before.epoch || known.totalMicro !== before.totalMicro)
    throw new Error(`the books of ${network} know epoch ${known.epoch}, the distributor is at ${before.epoch}`)
  const expected = before.totalMicro - known.unassignedMicro + gained
  if (treeMicro !== expected) throw new Error(`the root of ${network} is worth ${treeMicro}, not ${expected}`)
  const total = treeMicro > before.totalMicro ? treeMicro : before.totalMicro + 1n
  return { total, increase: total - before.totalMicro, unassigned: total - treeMicro }
}

/** As the contract computes it: the authorization fits this root, after the present one, and nothing else. */
export function rootNonce(place: CreatorChain, epoch: bigint, root: Buffer, newRoot: Buffer, newTotal: Micro): Hex {
  return toHex(
    keccak256(
      fromHex(
        encodeAbiParameters(
          [
            { type: 'uint256' },
            { type: 'address' },
            { type: 'uint64' },
            { type: 'bytes32' },
            { type: 'bytes32' },
            { type: 'uint256' },
          ],
          [BigInt(place.network.chainId), place.distributor.address, epoch, toHex(root), toHex(newRoot), newTotal],
        ),
      ),
    ),
  )
}

async function tooSoon({ database, clock, settings }: CreatorDeps, network: string): Promise<boolean> {
  const { rows } = await database.query<{ open: boolean; newest: Date | null }>(
    `select coalesce(bool_or(state = 'signed'), false) as open, max(signed_at) filter (where state = 'committed') as newest
     from creator_root where network = $1 and (state = 'signed' or signed_at > $2)`,
    [network, new Date(clock.nowMs() - settings.rootMs)],
  )
  return rows[0]?.open === true || (rows[0]?.newest ?? null) !== null
}

/** Only money that can no longer be taken away, for creators that nobody disputes. */
const openSql = `from creator_accrual a where a.network = $1 and a.state = 'accrued'
  and (a.held_until is null or a.held_until <= $2)
  and (a.micro < 0 or case a.source
    when 'payment' then exists (select from payment p where p.id = a.payment_id and p.final and p.state = 'served')
    else a.created_at < $3 end)
  and (a.micro < 0 or not exists (select from attestation t where t.id = a.subject and t.judged_at is null))
  and not exists (select from payout_hold h where h.network = a.network and h.payee = a.wallet)
  and not exists (select from source s where s.domain = a.domain and s.state in ('disputed', 'held', 'refused'))`

const openValues = (network: string, final: BlockRef, nowMs: number) => [
  network,
  new Date(nowMs),
  new Date(final.timestamp * 1000),
]

async function sumOpen(sql: Sql, network: string, final: BlockRef, nowMs: number): Promise<Micro> {
  const { rows } = await sql.query<{ micro: Micro }>(
    `select coalesce(sum(w.micro), 0)::bigint as micro from (select sum(a.micro) as micro ${openSql} group by a.wallet) w
     where w.micro > 0`,
    openValues(network, final, nowMs),
  )
  return rows[0]?.micro ?? 0n
}

async function readOpen(tx: Tx, network: string, final: BlockRef, nowMs: number): Promise<Open[]> {
  const { rows } = await tx.query<Open>(
    `select a.id, a.wallet, a.micro ${openSql} order by a.micro > 0, a.id limit ${accrualsMax} for update of a`,
    openValues(network, final, nowMs),
  )
  return rows
}

/** What each creator gains. One who owes more than was earned since waits for the next root. */
function chooseCreators(open: readonly Open[]): Map<Address, Micro> {
  const sums = new Map<Address, Micro>()
  for (const { wallet, micro } of open) sums.set(wallet, (sums.get(wallet) ?? 0n) + micro)
  return new Map([...sums].filter(([, micro]) => micro > 0n).slice(0, creatorsMax))
}

async function nextLeaves(tx: Tx, network: string, gained: ReadonlyMap<Address, Micro>): Promise<PayoutLeaf[]> {
  const { rows } = await tx.query<{ wallet: Address; committed: Micro }>(
    'select wallet, committed_micro as committed from creator_balance where network = $1',
    [network],
  )
  const leaves = new Map(rows.map(({ wallet, committed }) => [wallet, committed]))
  for (const [wallet, micro] of gained) leaves.set(wallet, (leaves.get(wallet) ?? 0n) + micro)
  return [...leaves].filter(([, micro]) => micro > 0n).map(([wallet, cumulativeMicro]) => ({ wallet, cumulativeMicro }))
}

async function keepLeaves(
  tx: Tx,
  network: string,
  rootId: bigint,
  tree: PayoutTree,
  leaves: readonly PayoutLeaf[],
  gained: ReadonlyMap<Address, Micro>,
): Promise<void> {
  const changed = leaves.filter(({ wallet }) => gained.has(wallet))
  const columns = [changed.map(({ wallet }) => wallet), changed.map(({ cumulativeMicro }) => cumulativeMicro)]
  await tx.query(
    `insert into creator_balance as b (network, wallet, pending_micro) select $1, t.wallet, t.micro
     from unnest($2::text[], $3::bigint[]) t (wallet, micro)
     on conflict (network, wallet) do update set pending_micro = excluded.pending_micro`,
    [network, ...columns],
  )
  await tx.query(
    `insert into creator_leaf (root_id, wallet, cumulative_micro, proof) select $1, t.wallet, t.micro, t.proof
     from unnest($2::text[], $3::bigint[], $4::bytea[]) t (wallet, micro, proof)`,
    [rootId, ...columns, changed.map(({ wallet }) => Buffer.concat((tree.proofOf(wallet) ?? []).map(fromHex)))],
  )
}
