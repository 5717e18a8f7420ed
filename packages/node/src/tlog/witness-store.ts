import { sha256 } from '@assay/till/kernel/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import type { Database, Sql } from '@assay/till/store/database'
import type { WitnessStore } from './witness.ts'

/** What a witness inside the node has seen, one row for each log. */
export function witnessStore(
  { database, clock }: { database: Database; clock: Clock },
  witness: string,
  onFork: (origin: string) => void = () => {},
): WitnessStore {
  return {
    change: (origin, decide) =>
      database.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`witness ${witness} ${origin}`])
        const { rows } = await tx.query<{ size: bigint; root: Buffer; note: string | null }>(
          'select size, root, note from log_witness_state where witness = $1 and origin = $2',
          [witness, origin],
        )
        const [row] = rows
        const { keep, fork, answer } = decide(
          row && { size: Number(row.size), root: row.root, note: row.note ?? undefined },
        )
        const now = new Date(clock.nowMs())
        if (keep)
          await tx.query(
            `insert into log_witness_state
               (witness, origin, origin_hash, size, root, note, cosigned_at, first_size, first_at)
             values ($1, $2, $7, $3, $4, $5, $6, $3, $6)
             on conflict (witness, origin) do update set size = excluded.size, root = excluded.root,
               note = excluded.note, origin_hash = excluded.origin_hash, cosigned_at = excluded.cosigned_at`,
            [witness, origin, keep.size, keep.root, keep.note ?? null, now, originHash(origin)],
          )
        if (fork) {
          const { rowCount } = await tx.query(
            `insert into log_witness_fork (origin, size, first_note, second_note, seen_at)
             values ($1, $2, $3, $4, $5) on conflict do nothing`,
            [origin, fork.size, fork.first, fork.second, now],
          )
          if (rowCount === 1) onFork(origin)
        }
        return answer
      }),
  }
}

/** How the read calls of witnesses and mirrors name a log. */
export const originHash = (origin: string): string => sha256(origin).toString('hex')

export type WitnessedLog = { origin: string; size: bigint; first_size: bigint | null; cosigned_at: Date | null }

export async function readWitnessed(sql: Sql, witness: string, limit: number): Promise<WitnessedLog[]> {
  const { rows } = await sql.query<WitnessedLog>(
    `select origin, size, first_size, cosigned_at from log_witness_state where witness = $1
     order by cosigned_at desc nulls last limit $2`,
    [witness, limit],
  )
  return rows
}

/** The last note this witness cosigned for the log whose origin has this SHA-256. */
export async function readCosigned(sql: Sql, witness: string, hash: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ note: string }>(
    'select note from log_witness_state where witness = $1 and origin_hash = $2 and note is not null',
    [witness, hash],
  )
  return rows[0]?.note
}
