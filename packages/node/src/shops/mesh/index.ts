export { type MeshShopOptions, meshShop, openMeshShop } from './open-shop.ts'
export { meshSettings, parseMeshPeers } from './settings.ts'
