export type { Standing } from './deps.ts'
export { createIntentDeps, type IntentOptions, type OpenedIntents, openIntents } from './open-intents.ts'
export { intentsShop, openIntentsShop } from './open-shop.ts'
