export { openOptions } from './open-options.ts'
export { optionsShop } from './open-shop.ts'
export { parseOptionSettings } from './settings.ts'
