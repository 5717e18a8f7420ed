export { type MeshShopOptions, meshShop, openMeshShop } from './open-shop.ts'
export { ownAddress } from './own-statement.ts'
export { meshSettings, parseMeshPeers } from './settings.ts'
export { addSeed, findPeer } from './store.ts'
