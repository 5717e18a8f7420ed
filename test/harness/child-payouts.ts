// Pays what is due in a process of its own, that can be told at which of its port calls to die.
import { createKillPoints } from './kill-points.ts'
import { openPayoutDesk, type Place } from './payout-harness.ts'

const plan = process.env['KILL_AT']
  ? {
      at: Number(process.env['KILL_AT']),
      when: process.env['KILL_WHEN'] === 'after' ? ('after' as const) : ('before' as const),
    }
  : undefined
const points = createKillPoints(plan)
const harness = await openPayoutDesk(JSON.parse(process.env['PLACE'] ?? '') as Place, points.intercept)
points.arm()
process.on('message', async (message) => {
  if (message === 'round') {
    await harness.run()
    process.send?.({ seen: points.seen() })
  }
  if (message === 'stop') process.exit(0)
})
process.send?.('ready')
