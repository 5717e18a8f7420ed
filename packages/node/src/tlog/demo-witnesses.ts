import type { Clock } from '@assay/till/kernel/clock'
import type { Rng } from '@assay/till/kernel/random'
import { generateSigningKey, privateKeyFromSeed } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import { type NoteKey, parseNoteKey } from './signed-note.ts'
import { createWitness, type Witness, type WitnessStore } from './witness.ts'

const names = ['witness.test/first', 'witness.test/second']

/** A demo node brings its own witnesses, which check like any other; in earnest they belong to somebody else. */
export async function openDemoWitnesses(
  deps: { database: Database; clock: Clock; rng: Rng },
  origin: string,
  logKeys: () => readonly string[],
): Promise<Witness[]> {
  const logs = {
    get: (asked: string) => (asked === origin ? logKeys().flatMap((vkey) => parseNoteKey(vkey) ?? []) : undefined),
  } as ReadonlyMap<string, readonly NoteKey[]>
  return Promise.all(
    names.map(async (name) => {
      const { rows } = await deps.database.query<{ private_d: string }>(
        `with made as (insert into log_witness_key values ($1, $2) on conflict do nothing returning private_d)
         select private_d from made union all select private_d from log_witness_key where witness = $1 limit 1`,
        [name, generateSigningKey(deps.rng).d],
      )
      const privateKey = privateKeyFromSeed(rows[0]?.private_d ?? '')
      return createWitness({ name, privateKey, logs, clock: deps.clock, store: databaseStore(deps.database, name) })
    }),
  )
}

function databaseStore(database: Database, witness: string): WitnessStore {
  return {
    change: (origin, decide) =>
      database.transaction(async (tx) => {
        await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`witness ${witness} ${origin}`])
        const { rows } = await tx.query<{ size: bigint; root: Buffer }>(
          'select size, root from log_witness_state where witness = $1 and origin = $2',
          [witness, origin],
        )
        const seen = rows[0] && { size: Number(rows[0].size), root: rows[0].root }
        const { keep, answer } = decide(seen)
        if (keep)
          await tx.query(
            `insert into log_witness_state (witness, origin, size, root) values ($1, $2, $3, $4)
             on conflict (witness, origin) do update set size = excluded.size, root = excluded.root`,
            [witness, origin, keep.size, keep.root],
          )
        return answer
      }),
  }
}
