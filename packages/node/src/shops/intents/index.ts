export type { Standing } from './deps.ts'
export { createIntentDeps, type IntentOptions, type OpenedIntents, openIntents } from './open-intents.ts'
export { openIntentsShop } from './open-shop.ts'
