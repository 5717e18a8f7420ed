import { type Address, checksumAddress } from '@assay/protocol/address'
import { accountOf } from '@assay/protocol/payout-tree'
import type { Network } from '@assay/till/chain'
import { fromHex } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import type { Sql } from '@assay/till/store/database'
import {
  claimOfWallet,
  findSource,
  requireSource,
  type SourceDeps,
  sourceProblems,
  verifySource,
} from '../../sources/index.ts'

export type AskMoveDeps = {
  sources: SourceDeps
  networks: readonly { network: Network }[]
  releaseMs: number
  /** Who signs moves; without one nothing can be moved. */
  mover: Address | undefined
}

export type AskedMove = { domain: string; from: Address; signedBy: Address }

/**
 * The wallet that a domain names now asks for what the domain earned for an earlier wallet and that wallet never got. The
 * proof is looked for again, and must be as old as one that releases waiting shares.
 */
export async function askMove(deps: AskMoveDeps, { domain: text, from, signedBy }: AskedMove) {
  const { sources } = deps
  if (deps.mover === undefined)
    throw new Problem('not_available', { detail: 'This node has no MOVER_KEY: only the wallet itself can redirect.' })
  const { domain } = await requireSource(sources, text)
  await verifySource(sources, domain)
  await requireHolder(deps, domain, signedBy)
  if (from === signedBy)
    throw new Problem('input_invalid', { detail: 'from is the wallet that is paid now: there is nothing to move.' })
  const asked = await insertMoves(deps, { domain, from, signedBy })
  if (asked.length === 0) throw fieldProblem('from', `has nothing unclaimed from ${domain}`)
  return { domain, from: checksumAddress(from), moves: asked }
}

async function requireHolder({ sources, releaseMs }: AskMoveDeps, domain: string, signedBy: Address): Promise<void> {
  const holder = await claimOfWallet(sources, domain, undefined)
  const source = await findSource(sources.database, domain)
  if (!holder || source?.state !== 'proven' || holder.report?.status !== 'proven')
    throw new Problem(sourceProblems.source_unproven, {
      detail: `The proof of ${domain} is not found, or is disputed.`,
    })
  if (holder.wallet !== signedBy)
    throw new Problem('forbidden', { detail: 'The request is signed by a wallet that is not the one paid now.' })
  const provenMs = Math.max(holder.proven_at?.getTime() ?? 0, holder.wallet_proven_at?.getTime() ?? 0)
  const fromMs = provenMs + releaseMs
  if (holder.wallet_proven_at === null || fromMs > sources.clock.nowMs())
    throw new Problem(sourceProblems.source_unproven, {
      detail:
        holder.wallet_proven_at === null
          ? 'The wallet has not signed its statement yet.'
          : `The proof can still be contested; ask again after ${toRfc3339(fromMs)}.`,
    })
}

async function insertMoves(
  { sources, networks, mover }: AskMoveDeps,
  { domain, from, signedBy }: AskedMove,
): Promise<MoveView[]> {
  const account = fromHex(accountOf(domain))
  await sources.database.query(
    `insert into creator_move (network, contract, account, wallet, domain, to_wallet, state, asked_at)
     select d.network, d.contract, $2, $3, $4, $5, 'asked', $6 from creator_distributor d
     where d.network = any($1) and d.accepted_at is not null and d.mover = $7
       and not exists (select from creator_move m where m.network = d.network and m.account = $2 and m.wallet = $3
         and m.state = 'refused')
       and (exists (select from creator_leaf l join creator_root r on r.id = l.root_id and r.contract = d.contract
           where l.network = d.network and l.wallet = $3 and l.account = $2 and l.claim_transaction is null)
         or (d.accepted_at = (select max(accepted_at) from creator_distributor where network = d.network)
           and exists (select from creator_accrual a where a.network = d.network and a.wallet = $3
             and a.state in ('accrued', 'committing') and coalesce(a.payee_domain, a.domain) = $4)))
     on conflict do nothing`,
    [
      networks.map(({ network }) => network.caip2),
      account,
      from,
      domain,
      signedBy,
      new Date(sources.clock.nowMs()),
      mover,
    ],
  )
  return (await readMoves(sources.database, from)).filter((move) => move.domain === domain)
}

export type MoveView = {
  network: string
  distributor: string
  domain: string | null
  from: string
  to: string
  state: string
  ready_at: string | null
  note: string
}

/** Moves away from a wallet, and to it. */
export async function readMoves(sql: Sql, wallet: Address): Promise<MoveView[]> {
  const { rows } = await sql.query<{
    network: string
    contract: Address
    domain: string | null
    wallet: Address
    to_wallet: Address
    state: keyof typeof notes
    ready_at: Date | null
  }>(
    `select network, contract, domain, wallet, to_wallet, state, ready_at from creator_move where wallet = $1
     union select network, contract, domain, wallet, to_wallet, state, ready_at from creator_move where to_wallet = $1
     order by network, domain, contract limit 100`,
    [wallet],
  )
  return rows.map((row) => ({
    network: row.network,
    distributor: checksumAddress(row.contract),
    domain: row.domain,
    from: checksumAddress(row.wallet),
    to: checksumAddress(row.to_wallet),
    state: row.state,
    ready_at: row.ready_at && toRfc3339(row.ready_at.getTime()),
    note: notes[row.state],
  }))
}

const notes = {
  asked: 'On its way to the chain.',
  pending: 'Announced on chain. Until it is ready the earlier wallet can refuse it (refuseMoves) and claim.',
  moved: 'In effect: what was allotted to the earlier wallet until then is paid to the new one.',
  refused: 'Refused by the earlier wallet, for good.',
}
