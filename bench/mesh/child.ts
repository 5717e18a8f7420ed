// One node of the mesh in its own process: the till, the sandbox it sells, and the mesh.

import { startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { countTraffic } from './traffic.ts'

const trafficBytes = countTraffic([process.env['BASE_RPC_URLS'], process.env['POLYGON_RPC_URLS']])
const config = parseConfig(process.env)
const node = await startNode(config, {
  log: silentLog,
  ownShops: ['account', 'sandbox', 'mesh'],
})
process.on('message', (message) => {
  if (message === 'stop') void node.stop().then(() => process.exit(0))
  if (message !== 'usage') return
  const { user, system } = process.cpuUsage()
  process.send?.({
    usage: { cpuMicros: user + system, rssBytes: process.memoryUsage.rss(), trafficBytes: trafficBytes() },
  })
})
// Anyone who started it is gone: nothing may be left running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: node.address })
