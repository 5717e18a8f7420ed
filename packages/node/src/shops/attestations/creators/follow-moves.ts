import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { BlockRef } from '@assay/till/chain'
import { fromHex } from '@assay/till/kernel/bytes'
import type { Tx } from '@assay/till/store/database'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { moveShares } from './move-shares.ts'

export type MoveEvent = { account: Hex; wallet: Address } & (
  | { kind: 'requested'; to: Address; untilEpoch: bigint; readyAt: Date }
  | { kind: 'refused' }
)

/** What the chain says of moves. One that nobody asked for here was signed with a stolen key: an alarm, in time to refuse it. */
export async function takeMoves(
  deps: CreatorDeps,
  tx: Tx,
  { network: { caip2: network }, contract }: Pick<CreatorChain, 'network' | 'contract'>,
  events: readonly MoveEvent[],
): Promise<void> {
  const now = new Date(deps.clock.nowMs())
  for (const event of events) {
    const key = [network, fromHex(event.account), event.wallet, contract]
    if (event.kind === 'refused') {
      await tx.query(
        `insert into creator_move as m (network, account, wallet, contract, to_wallet, state, asked_at, ended_at)
         values ($1, $2, $3, $4, $3, 'refused', $5, $5)
         on conflict (network, account, wallet, contract) do update set state = 'refused', ended_at = $5`,
        [...key, now],
      )
      continue
    }
    const { rows } = await tx.query<{ unknown: boolean }>(
      `insert into creator_move as m (network, account, wallet, contract, to_wallet, state, foreign_request, until_epoch,
         ready_at, asked_at) values ($1, $2, $3, $4, $5, 'pending', true, $6, $7, $8)
       on conflict (network, account, wallet, contract) do update set state = 'pending', to_wallet = $5, until_epoch = $6,
         ready_at = $7, foreign_request = m.foreign_request or m.to_wallet <> $5
       returning foreign_request as unknown`,
      [...key, event.to, event.untilEpoch, event.readyAt, now],
    )
    if (!rows[0]?.unknown) continue
    deps.metrics.count('alarms', { alarm: 'creator_move_unknown' })
    deps.log.error(
      { network, wallet: event.wallet, to: event.to, ready_at: event.readyAt.toISOString() },
      'a move of creators’ money was announced that nobody asked for here',
    )
  }
}

/**
 * Moves whose time to be refused is over at a final block are in effect, for what is not on chain yet too, unless the
 * wallet refused one at another contract: then it answers.
 */
export async function settleMoves(deps: CreatorDeps, place: CreatorChain, final: BlockRef): Promise<void> {
  const network = place.network.caip2
  await deps.database.transaction(async (tx) => {
    const { rows } = await tx.query<{ domain: string | null; wallet: Address; to: Address; refused: boolean }>(
      `update creator_move m set state = 'moved', ended_at = $3
       where network = $1 and contract = $4 and state = 'pending' and ready_at <= $2
       returning domain, wallet, to_wallet as to, exists (select from creator_move r where r.network = m.network
         and r.account = m.account and r.wallet = m.wallet and r.state = 'refused') as refused`,
      [network, new Date(final.timestamp * 1000), new Date(deps.clock.nowMs()), place.contract],
    )
    for (const { domain, wallet, to, refused } of rows)
      if (domain !== null && !refused) await moveShares(tx, { network, domain, wallet, to })
  })
}
