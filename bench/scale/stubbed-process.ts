// One of several processes on a shared database. Only the chain's answers and the settlement are given in this process.
import { serveNode } from '../sides/serve-node.ts'

await serveNode({ ownShops: 'till', env: process.env as Record<string, string> })
