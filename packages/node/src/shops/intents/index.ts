export type { Standing } from './deps.ts'
export { createIntentDeps, type IntentOptions, type OpenedIntents, openIntents } from './open-intents.ts'
export type { PeerReader } from './peers/read-peers.ts'
