export { royaltiesShop } from './open-shop.ts'
