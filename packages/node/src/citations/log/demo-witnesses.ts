import { demoAccount } from '../../devnet/index.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Rng } from '../../kernel/random.ts'
import { generateSigningKey, privateKeyFromSeed } from '../../signing/index.ts'
import type { Database } from '../../store/database.ts'
import type { TransparencyLog } from './open-log.ts'
import { createWitness, type Witness, type WitnessStore } from './witness.ts'

const names = ['witness.test/first', 'witness.test/second']

/** A demo node brings its own witnesses, which check like any other; in earnest they belong to somebody else. */
export async function openDemoWitnesses(
  deps: { database: Database; clock: Clock; rng: Rng },
  tree: Pick<TransparencyLog, 'origin' | 'firstKey' | 'keyStatements'>,
): Promise<Witness[]> {
  const logs = new Map([[tree.origin, [tree.firstKey()]]])
  const wallets = [demoAccount('operator').address]
  const statementsOf = async () => tree.keyStatements()
  return Promise.all(
    names.map(async (name) => {
      const { rows } = await deps.database.query<{ private_d: string }>(
        `with made as (insert into log_witness_key values ($1, $2) on conflict do nothing returning private_d)
         select private_d from made union all select private_d from log_witness_key where witness = $1 limit 1`,
        [name, generateSigningKey(deps.rng).d],
      )
      const privateKey = privateKeyFromSeed(rows[0]?.private_d ?? '')
      return createWitness({
        name,
        privateKey,
        logs,
        wallets,
        statementsOf,
        clock: deps.clock,
        store: databaseStore(deps.database, name),
      })
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
