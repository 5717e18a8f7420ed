// The node of the paid figure, whose sale hooks can be switched off: the difference is what they cost.
import type { Shop } from '../../packages/node/src/shops/shop.ts'
import { serveNode } from '../sides/serve-node.ts'

let hooksOn = true

const switched =
  (hook: NonNullable<Shop['saleHooks']>[number]): typeof hook =>
  async (...given) => {
    if (hooksOn) await hook(...given)
  }
const shop = (one: Shop): Shop =>
  one.saleHooks === undefined ? one : { ...one, saleHooks: one.saleHooks.map(switched) }

/** What a sale leaves behind, in the order in which one round makes work for the next. */
const laterJobs = ['payments.finality', 'rewards.mature', 'ledger.seal']
const rounds = new Map<string, () => Promise<void>>()
const job = (name: string, round: () => Promise<void>) => {
  rounds.set(name, round)
  return round
}

await serveNode({ intercept: { shop, job } }, ({ database }) => ({
  hooks: (on: boolean) => {
    hooksOn = on
  },
  /** Does at once what the jobs would do in their next rounds, so that none of it is counted with other sales. */
  finish_jobs: async () => {
    for (let open = true; open; ) {
      for (const name of laterJobs) await rounds.get(name)?.()
      const { rows } = await database.query<{ open: boolean }>(
        `select exists (select from ledger_unsealed) or exists (select from payment where state = 'served' and not final)
           or exists (select from reward_sale where affiliate_state = 'pending') as open`,
      )
      open = rows[0]?.open === true
    }
  },
}))
