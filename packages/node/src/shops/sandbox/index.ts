import { declareShop } from '../shop.ts'
import { sandboxRoutes } from './routes.ts'
import { sandboxVariables } from './settings.ts'

/** Something cheap to try paying with. */
export const sandboxShop = declareShop({
  name: 'sandbox',
  opensWithTill: true,
  variables: sandboxVariables,
  configure:
    ({ SANDBOX }) =>
    ({ clock, assets }) =>
      SANDBOX
        ? {
            routes: sandboxRoutes({ clock, networks: assets.map(({ caip2 }) => caip2) }),
            firstPurchase: '/v1/sandbox/echo?message=hello',
          }
        : { routes: [] },
})
