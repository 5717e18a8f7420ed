export { type CarelessSeller, startCarelessSeller } from './careless-seller.ts'
export { holes } from './holes.ts'
