export { agentChanged } from './agents/store.ts'
export { didInPath, type ParsedDid, parseDid, pkhDid, walletDid } from './did/parse-did.ts'
export { type IdentityShopOptions, identityShop, openIdentityShop } from './open-shop.ts'
export type { IdentityPorts } from './ports.ts'
