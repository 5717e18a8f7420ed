import { systemClock } from '../../packages/node/src/kernel/clock.ts'
import { silentLog } from '../../packages/node/src/kernel/log.ts'
import { systemRng } from '../../packages/node/src/kernel/random.ts'
import type { Database } from '../../packages/node/src/store/database.ts'
import { createDatabase } from '../../packages/node/src/store/pool.ts'

export const openDatabase = (databaseUrl: string): Database =>
  createDatabase({ target: { url: databaseUrl }, clock: systemClock, rng: systemRng, log: silentLog, poolSize: 2 })
