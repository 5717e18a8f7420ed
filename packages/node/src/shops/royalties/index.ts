export { openRoyaltiesShop, type RoyaltiesShopOptions } from './open-shop.ts'
