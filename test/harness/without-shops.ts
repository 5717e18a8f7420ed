import type { Plugin } from 'vitest/config'
import { withoutShops } from '../../scripts/without-shops.mjs'

/** Takes the lines of shops out of the list while it is loaded. */
export const loadWithoutShops = (names: readonly string[]): Plugin => ({
  name: 'without-shops',
  enforce: 'pre',
  transform: (code, id) => (id.endsWith('/packages/node/src/shop-list.ts') ? withoutShops(code, names) : undefined),
})
