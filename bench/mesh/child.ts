// One node of the mesh in its own process: the till, the sandbox it sells, and the mesh.

import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'

const config = parseConfig(process.env)
const node = await startNode(config, {
  log: silentLog,
  ownShops: ['account', 'sandbox', 'mesh'],
})
process.on('message', (message) => {
  if (message === 'stop') void node.stop().then(() => process.exit(0))
})
// Anyone who started it is gone: nothing may be left running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: node.address })
