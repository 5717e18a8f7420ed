export { identityShop, openIdentityShop } from './open-shop.ts'
