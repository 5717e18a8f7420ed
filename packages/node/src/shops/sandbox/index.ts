import type { OpenShop } from '../../http/index.ts'
import { sandboxRoutes } from './routes.ts'

/** Something cheap to try paying with. */
export function openSandboxShop(): OpenShop {
  return ({ clock, networks }) => ({ routes: sandboxRoutes({ clock, networks: networks.map(({ caip2 }) => caip2) }) })
}
export { sandboxRoutes } from './routes.ts'
