// A seller built with the till, in its own process, that can be told where to die. It runs no jobs of its own.

import { createTill } from '../../packages/till/src/create-till.ts'
import { demoAccount } from '../../packages/till/src/devnet/accounts.ts'
import { local } from '../../packages/till/src/index.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { testNetwork } from '../../packages/till/src/testing/test-till.ts'
import { createJobsByHand } from './jobs-by-hand.ts'
import { createKillPoints } from './kill-points.ts'
import { type HttpAdapter, startSeller } from './sellers.ts'

const { KILL_AT, KILL_WHEN, ADAPTER, DATABASE_URL, RPC_URL = '' } = process.env
const points = createKillPoints(
  KILL_AT === undefined ? undefined : { at: Number(KILL_AT), when: KILL_WHEN === 'after' ? 'after' : 'before' },
)
const till = await createTill({
  database: DATABASE_URL,
  publicUrl: 'http://seller.test',
  demo: true,
  networks: { base: testNetwork([RPC_URL]) },
  facilitator: local({ keys: [demoAccount('settler').privateKey] }),
  log: silentLog,
  intercept: { ...points.intercept, job: createJobsByHand().intercept },
})
const seller = await startSeller(ADAPTER as HttpAdapter, till)
process.on('message', (message) => {
  if (message === 'arm') {
    points.arm()
    process.send?.('armed')
  }
  if (message === 'seen') process.send?.({ seen: points.seen() })
  if (message === 'stop') void seller.close().then(() => process.exit(0))
})
// Anyone who started it is gone: nothing may be left running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: seller.url })
