// One node of the mesh in a process of its own: the till, the sandbox it sells, and the mesh.
import { parseConfig } from '../../packages/node/src/config/load-config.ts'
import { startNode } from '../../packages/node/src/node.ts'
import { openMeshShop } from '../../packages/node/src/shops/mesh/index.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'

const config = parseConfig(process.env)
const node = await startNode(config, {
  log: silentLog,
  ownShops: 'till',
  shops: [
    openMeshShop({
      peers: config.meshPeers,
      settings: config.mesh,
      demoHosts: config.demoHosts,
      dnsServers: config.dnsServers,
      contactEmail: config.contactEmail,
    }),
  ],
})
process.on('message', (message) => {
  if (message === 'stop') void node.stop().then(() => process.exit(0))
})
// Whoever started it is gone: nothing may be left running.
process.on('disconnect', () => process.exit(1))
process.send?.({ ready: node.address })
