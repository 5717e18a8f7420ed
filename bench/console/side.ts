// The node that bench/console looks at, in a process of its own: its work must not count as the browser's.
import { openConsoleShop } from '../../packages/node/src/faces/console/index.ts'
import { startStubbedNode } from '../sides/stubbed-node.ts'

const node = await startStubbedNode({ ownShops: 'till', shops: [openConsoleShop({ operators: [] })] })
process.send?.({ url: node.url })
process.on('message', async () => {
  await node.stop()
  process.exit(0)
})
