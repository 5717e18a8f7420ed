export { createIntentDeps, openIntents } from './open-intents.ts'
export { intentsShop } from './open-shop.ts'
