export { matrixShop, openMatrixShop } from './open-shop.ts'
