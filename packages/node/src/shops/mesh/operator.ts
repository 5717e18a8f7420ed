export { ownAddress } from './own-statement.ts'
export { addSeed } from './seed-store.ts'
export { findPeer } from './store.ts'
