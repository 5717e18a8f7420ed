// The node that bench/faces buys from, in its own process: its work must not count as the client's.
import { serveNode } from '../sides/serve-node.ts'

await serveNode({ ownShops: 'till' })
