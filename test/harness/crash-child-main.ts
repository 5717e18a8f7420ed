// A node in its own process that can be killed at a set point. Its jobs run only on request, one by one.

import { startCrashNode } from './crash-node.ts'
import { planIn } from './kill-points.ts'
import type { NodeVariant } from './node-variants.ts'

const { KILL_AT, KILL_WHEN, VARIANT, JOBS, ...env } = process.env
const { node, points, round } = await startCrashNode(env, {
  variant: VARIANT as NodeVariant,
  plan: planIn({ KILL_AT, KILL_WHEN }),
  jobs: JOBS?.split(','),
})
process.on('message', (message) => {
  if (message === 'arm') {
    points.arm()
    process.send?.('armed')
  }
  if (message === 'round') void round().then(() => process.send?.({ round: 'over' }))
  if (message === 'seen') process.send?.({ seen: points.seen() })
  if (message === 'stop') void node.stop().then(() => process.exit(0))
})
// The parent process has exited: leave nothing running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: node.address })
