import { openNotesShop } from './notes-shop.ts'
import { serveNode } from './serve-node.ts'

// The till alone: the peers have one route each, and what other shops do in the background is no part of a request.
const { MPP } = process.env
await serveNode({ shops: [openNotesShop], ownShops: 'till', ...(MPP === undefined ? {} : { env: { MPP } }) })
