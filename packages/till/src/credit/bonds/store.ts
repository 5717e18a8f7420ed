import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import { toRfc3339 } from '../../kernel/clock.ts'
import type { Sql, Tx } from '../../store/database.ts'

export type BondState = 'locked' | 'releasing' | 'released' | 'slashed'

export type Bond = {
  id: string
  wallet: Address
  network: string
  micro: Micro
  slashedMicro: Micro
  state: BondState
  lockedAtMs: number
  lockedUntilMs: number
  releaseDelaySeconds: number
  releaseAtMs: number | null
  endedAtMs: number | null
}

type Row = {
  id: string
  wallet: Address
  network: string
  micro: bigint
  slashed_micro: bigint
  state: BondState
  locked_at: Date
  locked_until: Date
  release_delay_seconds: number
  release_at: Date | null
  ended_at: Date | null
}

const columns = `id, wallet, network, micro, slashed_micro, state, locked_at, locked_until, release_delay_seconds, release_at,
  ended_at`

const toBond = (row: Row): Bond => ({
  id: row.id,
  wallet: row.wallet,
  network: row.network,
  micro: row.micro,
  slashedMicro: row.slashed_micro,
  state: row.state,
  lockedAtMs: row.locked_at.getTime(),
  lockedUntilMs: row.locked_until.getTime(),
  releaseDelaySeconds: row.release_delay_seconds,
  releaseAtMs: row.release_at?.getTime() ?? null,
  endedAtMs: row.ended_at?.getTime() ?? null,
})

export function bondView(bond: Bond) {
  const at = (ms: number | null) => (ms === null ? null : toRfc3339(ms))
  return {
    id: bond.id,
    wallet: checksumAddress(bond.wallet),
    network: bond.network,
    bonded_micro: bond.micro.toString(),
    slashed_micro: bond.slashedMicro.toString(),
    state: bond.state,
    locked_at: at(bond.lockedAtMs) as string,
    locked_until_at: at(bond.lockedUntilMs) as string,
    release_delay_seconds: bond.releaseDelaySeconds,
    release_at: at(bond.releaseAtMs),
    ended_at: at(bond.endedAtMs),
  }
}

export async function insertBond(tx: Tx, bond: Bond): Promise<void> {
  await tx.query(
    `insert into agent_bond (id, wallet, network, micro, state, locked_at, locked_until, release_delay_seconds)
     values ($1, $2, $3, $4, 'locked', $5, $6, $7)`,
    [
      bond.id,
      bond.wallet,
      bond.network,
      bond.micro,
      new Date(bond.lockedAtMs),
      new Date(bond.lockedUntilMs),
      bond.releaseDelaySeconds,
    ],
  )
}

/** Locked until the transaction ends: release and ruling never decide about the same bond at once. */
export async function lockBond(tx: Tx, id: string): Promise<Bond | undefined> {
  const { rows } = await tx.query<Row>(`select ${columns} from agent_bond where id = $1 for update`, [id])
  return rows[0] && toBond(rows[0])
}

export async function bondsOf(sql: Sql, wallet: Address): Promise<Bond[]> {
  const { rows } = await sql.query<Row>(
    `select ${columns} from agent_bond where wallet = $1 order by locked_at desc, id desc limit 100`,
    [wallet],
  )
  return rows.map(toBond)
}

/** Whose release is due, the oldest first. */
export async function dueBonds(sql: Sql, nowMs: number, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from agent_bond where state = 'releasing' and release_at <= $1 order by release_at limit $2`,
    [new Date(nowMs), limit],
  )
  return rows.map(({ id }) => id)
}

export type ActiveBond = { micro: Micro; lockedUntilMs: number }

/**
 * What was at stake at a moment, by wallet: bonds whose release had not been asked for. `lockedUntilMs` is when the
 * first of them may be asked back; from then on it still takes the delay of its release. What a ruling took counts for
 * nothing from the start.
 */
export async function activeBonds(
  sql: Sql,
  wallets: readonly Address[] | 'all',
  atMs: number,
): Promise<Map<Address, ActiveBond>> {
  const { rows } = await sql.query<{ wallet: Address; micro: bigint; locked_until: Date }>({
    name: 'active_bonds',
    text: `select wallet, sum(micro - slashed_micro)::bigint as micro, min(locked_until) as locked_until from agent_bond
      where ($1::text[] is null or wallet = any($1)) and locked_at <= $2 and state <> 'slashed'
        and (release_asked_at is null or release_asked_at > $2)
      group by wallet`,
    values: [wallets === 'all' ? null : wallets, new Date(atMs)],
  })
  return new Map(rows.map((row) => [row.wallet, { micro: row.micro, lockedUntilMs: row.locked_until.getTime() }]))
}
