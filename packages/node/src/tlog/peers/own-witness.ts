import { parseNoteKey } from '@assay/protocol/log/signed-note'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Metrics } from '@assay/till/kernel/metrics'
import type { Rng } from '@assay/till/kernel/random'
import { generateSigningKey, privateKeyFromSeed } from '@assay/till/signing'
import type { Database, Sql } from '@assay/till/store/database'
import { createWitness, type Witness } from '../index.ts'
import { witnessStore } from '../witness-store.ts'
import type { PeerLogs } from './peer-logs.ts'

export type OwnWitnessDeps = { database: Database; clock: Clock; rng: Rng; log: Log; metrics: Metrics }

/** The witness that this node is to its peers: it cosigns the logs of known mesh peers and no others. */
export async function openOwnWitness(
  deps: OwnWitnessDeps,
  name: string,
  peers: Pick<PeerLogs, 'findLog'>,
): Promise<Witness> {
  const kept = await loadWitnessKey(deps.database, deps.rng, name)
  return createWitness({
    name: kept.name,
    privateKey: privateKeyFromSeed(kept.private_d),
    clock: deps.clock,
    logs: {
      get: async (origin) => {
        const found = await peers.findLog(origin)
        const keys = found?.keys.flatMap((vkey) => parseNoteKey(vkey) ?? []).filter((key) => key.name === origin)
        return keys?.length ? keys : undefined
      },
    },
    store: witnessStore(deps, kept.name, (origin) => {
      deps.metrics.count('alarms', { alarm: 'peer_log_forked' })
      deps.log.error({ origin }, 'a peer signed two different trees of one size; both heads are in log_witness_fork')
    }),
  })
}

/** Generated once and kept in the database: verifiers pin it, so it must not change when other keys are rotated. */
async function loadWitnessKey(sql: Sql, rng: Rng, name: string): Promise<{ name: string; private_d: string }> {
  await sql.query('insert into witness_self (name, private_d) values ($1, $2) on conflict do nothing', [
    name,
    generateSigningKey(rng).d,
  ])
  const { rows } = await sql.query<{ name: string; private_d: string }>('select name, private_d from witness_self')
  if (!rows[0]) throw new Error('the key of the witness is missing')
  return rows[0]
}
