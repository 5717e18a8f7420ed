import type { Clock } from '../../kernel/clock.ts'
import type { Rng } from '../../kernel/random.ts'
import { generateSigningKey, privateKeyFromSeed } from '../../signing/index.ts'
import type { Database } from '../../store/database.ts'
import { parseNoteKey } from './signed-note.ts'
import { createWitness, type Witness } from './witness.ts'
import { witnessStore } from './witness-store.ts'

const names = ['witness.test/first', 'witness.test/second']

/** A demo node brings its own witnesses, which check like any other; in earnest they belong to somebody else. */
export async function openDemoWitnesses(
  deps: { database: Database; clock: Clock; rng: Rng },
  origin: string,
  logKeys: () => readonly string[],
): Promise<Witness[]> {
  const logs = {
    get: (asked: string) => (asked === origin ? logKeys().flatMap((vkey) => parseNoteKey(vkey) ?? []) : undefined),
  }
  return Promise.all(
    names.map(async (name) => {
      const { rows } = await deps.database.query<{ private_d: string }>(
        `with made as (insert into log_witness_key values ($1, $2) on conflict do nothing returning private_d)
         select private_d from made union all select private_d from log_witness_key where witness = $1 limit 1`,
        [name, generateSigningKey(deps.rng).d],
      )
      const privateKey = privateKeyFromSeed(rows[0]?.private_d ?? '')
      return createWitness({ name, privateKey, logs, clock: deps.clock, store: witnessStore(deps, name) })
    }),
  )
}
