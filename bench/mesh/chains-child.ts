// Both chains in a separate process, so that the nodes' questions do not wait for what the bench itself does.

import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { startChain } from '../../test/harness/start-chain.ts'

const start = (chainId: number) => startChain({ chainId, port: 0, clock: systemClock, log: silentLog })
const [base, polygon] = [await start(8453), await start(137)]
// Its parent is gone: nothing may be left running.
process.on('disconnect', () => void Promise.all([base.stop(), polygon.stop()]).then(() => process.exit(0)))
process.send?.([{ url: base.url }, { url: polygon.url }])
