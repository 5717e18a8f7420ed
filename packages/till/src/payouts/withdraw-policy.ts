import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Micro } from '@assay/protocol/money'
import { writeAudit } from '../store/audit-log.ts'
import type { Database } from '../store/database.ts'

export type WithdrawPolicy = {
  /** Where the operator's money may go; the first of a network is used by the schedule. */
  destinations: readonly { network: string; address: Address }[]
  /** Absent: only when a person asks. */
  everyMs?: number
  /** Less than this stays where it is, unless a person asks for an amount. */
  minimumMicro: Micro
}

/** A destination is for every dollar of its chain. */
export const destinationsOn = ({ destinations }: WithdrawPolicy, network: string) =>
  destinations.filter((one) => one.network === chainOfAsset(network))

export const isAllowed = (policy: WithdrawPolicy, network: string, payee: Address): boolean =>
  destinationsOn(policy, network).some(({ address }) => address === payee)

/** Keeps who changed where money may go: it is a setting, so the one who started the node. */
export async function recordDestinations(database: Database, { destinations }: WithdrawPolicy): Promise<void> {
  const now = destinations.map(({ network, address }) => `${network}=${address}`).sort()
  await database.transaction(async (tx) => {
    const { rows } = await tx.query<{ destinations: string[] }>('select destinations from withdraw_setting for update')
    const before = rows[0]?.destinations
    if (before !== undefined && before.join() === now.join()) return
    const { rowCount } = await tx.query(
      `insert into withdraw_setting (destinations) values ($1)
       on conflict (only_one) do update set destinations = excluded.destinations where withdraw_setting.destinations <> excluded.destinations`,
      [now],
    )
    if (rowCount === 0) return
    await writeAudit(tx, {
      actor: 'node',
      action: 'withdraw.destinations',
      subject: 'WITHDRAW_TO',
      details: { from: before ?? [], to: now },
    })
  })
}
