// A node in its own process that can be killed at a set point. Its jobs run only on request, one by one.

import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { createJobsByHand } from './jobs-by-hand.ts'
import { createKillPoints } from './kill-points.ts'
import { type NodeVariant, openVariant } from './node-variants.ts'

const { KILL_AT, KILL_WHEN, VARIANT, JOBS, ...env } = process.env
const points = createKillPoints(
  KILL_AT === undefined ? undefined : { at: Number(KILL_AT), when: KILL_WHEN === 'after' ? 'after' : 'before' },
)
const jobs = createJobsByHand()
const node = await startNode(parseConfig(env), {
  ...openVariant(VARIANT as NodeVariant),
  log: silentLog,
  intercept: { ...points.intercept, job: jobs.intercept },
  jobs: JOBS !== undefined,
  trustExamples: true,
})
process.on('message', (message) => {
  if (message === 'arm') {
    points.arm()
    process.send?.('armed')
  }
  if (message === 'round') void jobs.run(JOBS?.split(',') ?? []).then(() => process.send?.({ round: 'over' }))
  if (message === 'seen') process.send?.({ seen: points.seen() })
  if (message === 'stop') void node.stop().then(() => process.exit(0))
})
// The parent process has exited: leave nothing running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: node.address })
