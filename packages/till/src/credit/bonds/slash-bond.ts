import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { accounts, post } from '../../ledger/index.ts'
import { writeAudit } from '../../store/audit-log.ts'
import type { Database, Tx } from '../../store/database.ts'
import { type Bond, lockBond } from './store.ts'

export type SlashOrder = {
  bondId: string
  /** What was ruled, by its id; it can take from this bond once. */
  ruling: string
  reason: string
  by: string
  /** All that is left by default. */
  micro?: Micro
  nowMs: number
}

export type SlashOutcome =
  | { status: 'slashed'; bond: Bond; micro: Micro }
  | { status: 'refused'; why: 'no_such_bond' | 'ended' | 'not_upheld' | 'more_than_left' | 'slashed_before' }

/** Whether a ruling was upheld against a wallet. Supplied by the part that rules. */
export type IsUpheld = (tx: Tx, ruling: string, wallet: Address) => Promise<boolean>

/** Takes a bond, or a part of it, for an upheld ruling: posted as income of the node, and in the audit log. */
export async function slashBond(database: Database, order: SlashOrder, isUpheld: IsUpheld): Promise<SlashOutcome> {
  const { bondId, ruling, reason, by, nowMs } = order
  return database.transaction(async (tx): Promise<SlashOutcome> => {
    const bond = await lockBond(tx, bondId)
    if (!bond) return { status: 'refused', why: 'no_such_bond' }
    if (bond.state === 'released' || bond.state === 'slashed') return { status: 'refused', why: 'ended' }
    if (!(await isUpheld(tx, ruling, bond.wallet))) return { status: 'refused', why: 'not_upheld' }
    const leftMicro = bond.micro - bond.slashedMicro
    const micro = order.micro ?? leftMicro
    if (micro <= 0n || smallerOf(micro, leftMicro) !== micro) return { status: 'refused', why: 'more_than_left' }
    const { rowCount } = await tx.query(
      `insert into bond_slash (bond_id, wallet, ruling, micro, reason, slashed_by, slashed_at) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict do nothing`,
      [bondId, bond.wallet, ruling, micro, reason, by, new Date(nowMs)],
    )
    if (rowCount === 0) return { status: 'refused', why: 'slashed_before' }
    const slashedMicro = bond.slashedMicro + micro
    const state = slashedMicro === bond.micro ? 'slashed' : bond.state
    await tx.query(`update agent_bond set slashed_micro = $2, state = $3, ended_at = $4 where id = $1`, [
      bondId,
      slashedMicro,
      state,
      state === 'slashed' ? new Date(nowMs) : null,
    ])
    const { network, wallet } = bond
    await post(tx, [
      {
        reference: `bond_slash:${bondId}:${ruling}`,
        kind: 'bond_slash',
        memo: reason,
        lines: [
          { account: accounts.creditBonded(network, wallet), amount: micro },
          { account: accounts.revenue(network, 'credit.bond_slash'), amount: -micro },
        ],
      },
    ])
    await writeAudit(tx, {
      actor: by,
      action: 'bond.slash',
      subject: bondId,
      details: { ruling, reason, micro: micro.toString(), wallet, network },
    })
    return { status: 'slashed', micro, bond: { ...bond, slashedMicro, state } }
  })
}
