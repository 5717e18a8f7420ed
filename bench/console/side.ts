// The node that bench/console looks at, in its own process: its work must not count as the browser's.
import { serveNode } from '../sides/serve-node.ts'

await serveNode({ ownShops: ['account', 'sandbox', 'console'] })
