// The node that bench/faces buys from, in a process of its own: its work must not count as the client's.
import { startStubbedNode } from '../sides/stubbed-node.ts'

const node = await startStubbedNode({ ownShops: 'till' })
process.send?.({ url: node.url })
process.on('message', async () => {
  await node.stop()
  process.exit(0)
})
