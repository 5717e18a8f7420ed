// The node of the paid figure, whose sale hooks can be switched off: the difference is what they cost.
import type { Shop } from '../../packages/node/src/shops/shop.ts'
import { serveNode } from '../sides/serve-node.ts'

let hooksOn = true

const switched =
  (hook: NonNullable<Shop['saleHooks']>[number]): typeof hook =>
  async (...given) => {
    if (hooksOn) await hook(...given)
  }
const shop = (one: Shop): Shop =>
  one.saleHooks === undefined ? one : { ...one, saleHooks: one.saleHooks.map(switched) }

await serveNode({ intercept: { shop } }, () => ({
  hooks: (on: boolean) => {
    hooksOn = on
  },
}))
