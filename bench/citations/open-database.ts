import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import type { Database } from '../../packages/till/src/store/database.ts'
import { createDatabase } from '../../packages/till/src/store/pool.ts'

export const openDatabase = (databaseUrl: string): Database =>
  createDatabase({ target: { url: databaseUrl }, clock: systemClock, rng: systemRng, log: silentLog, poolSize: 2 })
