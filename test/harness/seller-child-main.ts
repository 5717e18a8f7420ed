// A seller built with the till, in its own process, that can be killed at a set point. Jobs are off by default.

import { startCrashSeller } from './crash-seller.ts'
import { createKillPoints, planIn } from './kill-points.ts'
import type { HttpAdapter } from './sellers.ts'

const { KILL_AT, KILL_WHEN, ADAPTER = '', DATABASE_URL, RPC_URL = '', WITH_JOBS, PORT = '0' } = process.env
const points = createKillPoints(planIn({ KILL_AT, KILL_WHEN }))
// Several adapters are as many tills in this process.
const sellers = await Promise.all(
  ADAPTER.split(',').map((adapter) =>
    startCrashSeller(points, {
      adapter: adapter as HttpAdapter,
      databaseUrl: DATABASE_URL,
      rpcUrl: RPC_URL,
      port: Number(PORT),
      withJobs: WITH_JOBS !== undefined,
    }),
  ),
)
process.on('message', (message) => {
  if (message === 'arm') {
    points.arm()
    process.send?.('armed')
  }
  if (message === 'seen') process.send?.({ seen: points.seen() })
  if (message === 'stop') void Promise.all(sellers.map((seller) => seller.close())).then(() => process.exit(0))
})
// Anyone who started it is gone: nothing may be left running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: sellers.map(({ url }) => url).join(' ') })
