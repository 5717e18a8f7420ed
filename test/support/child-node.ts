// A node in a process of its own, joined to the database and chains of a test, that can be told where to die.

import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { createKillPoints } from './kill-points.ts'
import { createTestShop } from './test-shop.ts'

const plan = process.env['KILL_AT']
  ? {
      at: Number(process.env['KILL_AT']),
      when: process.env['KILL_WHEN'] === 'after' ? ('after' as const) : ('before' as const),
    }
  : undefined
const points = createKillPoints(plan)
// Its own jobs would make calls of their own; here only the life of the one payment is counted.
const node = await startNode(parseConfig(process.env), {
  log: silentLog,
  intercept: points.intercept,
  shops: [createTestShop().open],
  jobs: false,
  ownShops: 'till',
})
process.on('message', (message) => {
  if (message === 'arm') {
    points.arm()
    process.send?.('armed')
  }
  if (message === 'seen') process.send?.({ seen: points.seen() })
  if (message === 'stop') void node.stop().then(() => process.exit(0))
})
process.send?.({ ready: node.address })
