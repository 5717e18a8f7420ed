import type { Micro } from '@assay/protocol/money'
import { accounts, type LedgerLine, post } from '../ledger/index.ts'
import { writeAudit } from '../store/audit-log.ts'
import type { Database, Sql, Tx } from '../store/database.ts'

/** Custody at a final block less what the books say it holds, with every transfer up to that block posted. */
export type CustodyDifference = { network: string; block: bigint; differenceMicro: Micro }

/**
 * Remembers a comparison. Less money than the books say, at two final blocks one after the other, stops the payouts of
 * the network; nothing missing any more lets them go on.
 */
export async function recordDifference(database: Database, difference: CustodyDifference): Promise<'stopped' | 'ok'> {
  const { network, block, differenceMicro } = difference
  const { rows } = await database.query<{ stopped: boolean }>(
    `insert into custody_difference as d (network, block_number, difference_micro) values ($1, $2, $3)
     on conflict (network) do update set block_number = excluded.block_number, difference_micro = excluded.difference_micro,
       stopped_at = case when excluded.difference_micro >= 0 then null
         when d.stopped_at is null and d.difference_micro < 0 and d.block_number <> excluded.block_number then now()
         else d.stopped_at end
     returning stopped_at is not null as stopped`,
    [network, block, differenceMicro],
  )
  return rows[0]?.stopped === true ? 'stopped' : 'ok'
}

/** Whether custody misses money, and whether the books are behind the chain: in one statement, for each round asks. */
export async function readStops(sql: Sql, network: string): Promise<{ stopped: boolean; restoring: boolean }> {
  const { rows } = await sql.query<{ stopped: boolean; restoring: boolean }>(
    `select exists (select from custody_difference where network = $1 and stopped_at is not null) as stopped,
       exists (select from restore_gap where network = $1 and reconciled_at is null) as restoring`,
    [network],
  )
  return rows[0] ?? { stopped: true, restoring: true }
}

export const payoutsStopped = async (sql: Sql, network: string): Promise<boolean> =>
  (await readStops(sql, network)).stopped

/** Stops at once, whatever was seen before. */
export async function stopPayouts(sql: Sql, network: string, differenceMicro: Micro, block: bigint): Promise<void> {
  await sql.query(
    `insert into custody_difference as d (network, block_number, difference_micro, stopped_at) values ($1, $2, $3, now())
     on conflict (network) do update set block_number = excluded.block_number, difference_micro = excluded.difference_micro,
       stopped_at = coalesce(d.stopped_at, excluded.stopped_at)`,
    [network, block, differenceMicro],
  )
}

export async function resumePayouts(sql: Sql, network: string): Promise<void> {
  await sql.query(`update custody_difference set stopped_at = null, difference_micro = 0 where network = $1`, [network])
}

export type AcceptLossOutcome = { status: 'accepted'; lossMicro: Micro } | { status: 'not_stopped' }

/**
 * A person decides that the missing money is gone: it becomes a loss, the books equal the chain again, and payouts go
 * on. Each transfer that took it away is posted; what no transfer shows corrects what the address held at the start.
 */
export async function acceptLoss(
  database: Database,
  network: string,
  by: string,
  note: string,
): Promise<AcceptLossOutcome> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ block: bigint; micro: Micro }>(
      `select block_number as block, difference_micro as micro from custody_difference
       where network = $1 and stopped_at is not null and difference_micro < 0 for update`,
      [network],
    )
    const [row] = rows
    if (!row) return { status: 'not_stopped' }
    const lossMicro = -row.micro
    const restMicro = lossMicro - (await postMissing(tx, network, note))
    if (restMicro > 0n)
      await post(tx, [
        {
          reference: `custody_loss:${network}:${row.block}`,
          kind: 'opening',
          memo: note.slice(0, 200),
          lines: lossLines(network, restMicro),
        },
      ])
    await writeAudit(tx, {
      actor: by,
      action: 'payouts.accept_loss',
      subject: network,
      details: { loss_micro: lossMicro.toString(), block: row.block.toString(), note },
    })
    await resumePayouts(tx, network)
    return { status: 'accepted', lossMicro }
  })
}

const lossLines = (network: string, micro: Micro): LedgerLine[] => [
  { account: accounts.custodyLoss(network), amount: micro },
  { account: accounts.onchain(network, 'custody'), amount: -micro },
]

/** Posts the transfers out of custody that nothing explains, and says how much they took. */
async function postMissing(tx: Tx, network: string, note: string): Promise<Micro> {
  const { rows } = await tx.query<{ id: bigint; turn: number; micro: Micro }>(
    `update transfer set posted_as = 'loss', posted_for = 'custody', posted_at = now()
     where network = $1 and missing and posted_as is null returning id, turn, amount_micro as micro`,
    [network],
  )
  await post(
    tx,
    rows.map(({ id, turn, micro }) => ({
      reference: `custody_loss:${network}:transfer:${id}`,
      kind: 'custody_loss',
      memo: note.slice(0, 200),
      transfer: { id, turn },
      lines: lossLines(network, micro),
    })),
  )
  return rows.reduce((sum, { micro }) => sum + micro, 0n)
}
