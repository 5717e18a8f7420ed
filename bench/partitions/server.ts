import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { runEmbedded } from '../../packages/till/src/store/embedded/run-embedded.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { closeOnSignal } from '../process/on-signal.ts'

export type Shard = {
  pool: pg.Pool
  url: string
  cpuMicros(): number
  /** Bytes of log written so far. */
  walBytes(): Promise<number>
  stop(): Promise<void>
}

/** Its own database server, every commit synced to disk. */
export async function openShard(sessions: number): Promise<Shard> {
  const home = await mkdtemp(join(tmpdir(), 'assay-shard-'))
  await chmod(home, 0o711)
  const quiet = { onProgress: () => {}, onLockLost: () => {} }
  // What one server has written must be fit to be followed by another.
  const settings = { wal_level: 'logical' }
  const server = await runEmbedded({ home, settings, clock: systemClock, log: silentLog, rng: systemRng, ...quiet })
  const cpu = await openDatabaseCpu(server.databaseUrl)
  const removeHandler = closeOnSignal(() => server.stop())
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: sessions })
  pool.on('error', () => {})
  return {
    pool,
    url: server.databaseUrl,
    cpuMicros: cpu.micros,
    walBytes: async () => {
      const { rows } = await pool.query<{ bytes: string }>(`select pg_current_wal_lsn() - '0/0' as bytes`)
      return Number(rows[0]?.bytes)
    },
    stop: async () => {
      await pool.end()
      await cpu.close()
      removeHandler()
      await server.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}
