import type { Address } from '@assay/protocol/address'
import type { Clock } from '../../kernel/clock.ts'
import type { Sql } from '../../store/database.ts'

/** This process: `id` is the key of its advisory lock, `lost` aborts when the session that holds it now is gone. */
export type WalletHolder = { readonly id: bigint; readonly lost: AbortSignal }

/** One process at a time sends with a wallet. Every durable write names the token, so a holder of the past writes nothing. */
export type WalletLease = {
  readonly network: string
  readonly wallet: Address
  readonly token: bigint
  readonly leaseMs: number
  /** Local and cheap, asked before each broadcast. The database has the last word. */
  holds(): boolean
  /** The database just confirmed the lease, as of a call begun at this moment. */
  confirmed(beganAtMs: number): void
  lose(): void
}

// Time between our last read of the clock and the bytes on the wire.
const marginMs = 1_000

export function createLease(
  leased: { network: string; wallet: Address; token: bigint; leaseMs: number; beganAtMs: number },
  holder: WalletHolder,
  clock: Clock,
): WalletLease {
  let confirmedAtMs = leased.beganAtMs
  let lost = false
  return {
    network: leased.network,
    wallet: leased.wallet,
    token: leased.token,
    leaseMs: leased.leaseMs,
    holds: () => !lost && !holder.lost.aborted && clock.monotonicMs() - confirmedAtMs < leased.leaseMs - marginMs,
    confirmed: (beganAtMs) => {
      confirmedAtMs = Math.max(confirmedAtMs, beganAtMs)
    },
    lose: () => {
      lost = true
    },
  }
}

/** A wallet whose process has provably died is free at once; one whose process is cut off, when its lease expires. */
const takeSql = `
insert into settlement_wallet as leased (network, wallet, holder, token, expires_at)
values ($1, $2, $3, 1, clock_timestamp() + $4 * interval '1 millisecond')
on conflict (network, wallet) do update
  set holder = excluded.holder, token = leased.token + 1, expires_at = excluded.expires_at, wanted_until = null
  where leased.expires_at < clock_timestamp() or not owner_alive(leased.holder)
returning token`

/** The token of the new lease, or undefined while another living process holds the wallet. */
export async function leaseWallet(
  sql: Sql,
  leased: { network: string; wallet: Address; leaseMs: number },
  holder: WalletHolder,
): Promise<bigint | undefined> {
  const { rows } = await sql.query<{ token: bigint }>(takeSql, [
    leased.network,
    leased.wallet,
    holder.id,
    leased.leaseMs,
  ])
  return rows[0]?.token
}

/** Asks the holder of the wallet to release it once its transactions are mined. */
export async function requestWallet(sql: Sql, network: string, wallet: Address, forMs: number): Promise<void> {
  await sql.query(
    `update settlement_wallet set wanted_until = clock_timestamp() + $3 * interval '1 millisecond' where network = $1 and wallet = $2`,
    [network, wallet, forMs],
  )
}

export type Renewal = { held: boolean; wanted: boolean }

export async function renewWalletLease(sql: Sql, lease: WalletLease): Promise<Renewal> {
  const { rows } = await sql.query<{ wanted: boolean }>(
    `update settlement_wallet set expires_at = clock_timestamp() + $4 * interval '1 millisecond'
     where network = $1 and wallet = $2 and token = $3
     returning coalesce(wanted_until > clock_timestamp(), false) as wanted`,
    [lease.network, lease.wallet, lease.token, lease.leaseMs],
  )
  return { held: rows.length > 0, wanted: rows[0]?.wanted === true }
}

export async function releaseWallet(sql: Sql, lease: WalletLease): Promise<void> {
  lease.lose()
  await sql.query(
    `update settlement_wallet set expires_at = '-infinity' where network = $1 and wallet = $2 and token = $3`,
    [lease.network, lease.wallet, lease.token],
  )
}
