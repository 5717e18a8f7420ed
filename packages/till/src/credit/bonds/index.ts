import { parseCreditPolicy } from '@assay/till'
import type { OpenShop } from '@assay/node/http'
import { releaseDue } from './release-bond.ts'
import { bondRoutes } from '../../../../node/src/shops/account/bond-routes.ts'

export { type SlashOrder, type SlashOutcome, slashBond } from './slash-bond.ts'
export { type ActiveBond, activeBonds, type Bond, type BondState } from './store.ts'

/** Credit at stake. `policy` is the JSON of CREDIT. */
export function openBondsShop(options: { policy?: unknown } = {}): OpenShop {
  const { bondReleaseSeconds: releaseDelaySeconds } = parseCreditPolicy(options.policy)
  return (context) => ({
    routes: bondRoutes({ ...context, releaseDelaySeconds }),
    jobs: [{ name: 'bonds.release', intervalMs: 10_000, work: () => releaseDue(context) }],
  })
}
