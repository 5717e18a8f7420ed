import type { OpenShop } from '../../http/index.ts'
import { sandboxRoutes } from './routes.ts'

/** Something cheap to try paying with. */
export function openSandboxShop(): OpenShop {
  return ({ clock, base, polygon }) => ({ routes: sandboxRoutes({ clock, networks: [base.caip2, polygon.caip2] }) })
}
