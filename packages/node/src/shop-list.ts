import { type Config, readConfig } from './config/load-config.ts'
import { consoleFace } from './faces/console/index.ts'
import { logFace } from './faces/tlog/open-log-face.ts'
import { notificationsShop } from './notifications/index.ts'
import { accountShop } from './shops/account/index.ts'
import { attestationsShop } from './shops/attestations/index.ts'
import { identityShop } from './shops/identity/index.ts'
import { intentsShop } from './shops/intents/index.ts'
import { matchShop } from './shops/match/index.ts'
import { matrixShop } from './shops/matrix/index.ts'
import { meshShop } from './shops/mesh/index.ts'
import { optionsShop } from './shops/options/index.ts'
import { rewardsShop } from './shops/rewards/index.ts'
import { royaltiesShop } from './shops/royalties/index.ts'
import { sandboxShop } from './shops/sandbox/index.ts'
import type { ShopDeclaration } from './shops/shop.ts'
import { sourcesShop } from './shops/sources/index.ts'
import { subscriptionsShop } from './shops/subscriptions/index.ts'
import { tokensShop } from './shops/tokens/index.ts'

/**
 * One line a shop, in the order they open, so that a shop may import those above it. Nothing else imports one (`npm run
 * imports`): without its line, its folder and the shops that import it the rest has its types (`npm run shops`) and works.
 */
export const shopList: readonly ShopDeclaration[] = [
  accountShop,
  sandboxShop,
  notificationsShop,
  tokensShop,
  subscriptionsShop,
  matrixShop,
  rewardsShop,
  meshShop,
  logFace,
  sourcesShop,
  attestationsShop,
  identityShop,
  royaltiesShop,
  matchShop,
  intentsShop,
  optionsShop,
  consoleFace,
]

export const shopNames = shopList.map(({ name }) => name)

export const logEntryTypes = shopList.flatMap(({ logEntries }) => logEntries)

/** The configuration of a node with all its shops. */
export const parseConfig = (env: Record<string, string | undefined>): Config => readConfig(env, shopList)
