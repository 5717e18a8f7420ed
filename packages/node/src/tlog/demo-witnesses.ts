import { demoAccount } from '@assay/till/devnet'
import type { Clock } from '@assay/till/kernel/clock'
import type { Rng } from '@assay/till/kernel/random'
import { generateSigningKey, privateKeyFromSeed } from '@assay/till/signing'
import type { Database } from '@assay/till/store/database'
import type { TransparencyLog } from './open-log.ts'
import { createWitness, type Witness } from './witness.ts'
import { witnessStore } from './witness-store.ts'

const names = ['witness.test/first', 'witness.test/second']

/** A demo node brings its own witnesses, which check like any other; in production they belong to somebody else. */
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
        store: witnessStore(deps, name),
      })
    }),
  )
}
