// A seller built with the till, in its own process, that can be killed at a set point. Jobs are off by default.

import { createTill, local } from '@assay/till'
import { demoAccount } from '@assay/till/devnet/accounts'
import { silentLog } from '@assay/till/kernel/log'
import { testNetwork } from '@assay/till/testing'
import { createJobsByHand } from './jobs-by-hand.ts'
import { createKillPoints } from './kill-points.ts'
import { type HttpAdapter, startSeller } from './sellers.ts'

const { KILL_AT, KILL_WHEN, ADAPTER = '', DATABASE_URL, RPC_URL = '', WITH_JOBS, PORT = '0' } = process.env
const points = createKillPoints(
  KILL_AT === undefined ? undefined : { at: Number(KILL_AT), when: KILL_WHEN === 'after' ? 'after' : 'before' },
)
const openSeller = async (adapter: string) => {
  const till = await createTill({
    database: DATABASE_URL,
    // Where its address does not matter, one for all processes, as behind a load balancer.
    publicUrl: PORT === '0' ? 'http://seller.test' : `http://127.0.0.1:${PORT}`,
    demo: true,
    networks: { base: testNetwork([RPC_URL]) },
    facilitator: local({ keys: [demoAccount('settler').privateKey] }),
    log: silentLog,
    intercept: { ...points.intercept, ...(WITH_JOBS === undefined ? { job: createJobsByHand().intercept } : {}) },
  })
  return startSeller(adapter as HttpAdapter, till, undefined, Number(PORT))
}
// Several adapters are as many tills in this process.
const sellers = await Promise.all(ADAPTER.split(',').map(openSeller))
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
