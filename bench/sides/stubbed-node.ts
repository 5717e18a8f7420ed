// The node as it is started by `npm start`, with its embedded database (fsync on) and chains. Only what is behind the
// two ports to the outside is answered in this process: the facilitator's settlement and reads of the chain.

import { type NodeOptions, type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { withoutDemoData } from './quiet-config.ts'
import { stubChain, stubSettlement } from './stubs.ts'

export function startStubbedNode(
  options: Pick<NodeOptions, 'shops' | 'ownShops' | 'intercept'> & { env?: Record<string, string> } = {},
): Promise<RunningNode> {
  return startNode(
    parseConfig({
      PORT: '0',
      DEVNET_PORTS: '0,0',
      ASSAY_HOME: process.env['ASSAY_HOME'],
      INTENTS: '{"demo":"off"}',
      LOG_LEVEL: 'silent',
      ...withoutDemoData,
      ...options.env,
    }),
    {
      ...options,
      log: silentLog,
      acceptors: 8,
      intercept: { ...options.intercept, chain: stubChain, facilitator: stubSettlement },
    },
  )
}
