// The node that bench/console looks at, in a process of its own: its work must not count as the browser's.
import { serveNode } from '../sides/serve-node.ts'

await serveNode({ ownShops: ['account', 'sandbox', 'console'] })
