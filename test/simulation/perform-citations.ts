import { postJson } from '../harness/post-json.ts'
import type { Scene } from './buyers.ts'
import { buyOnce, newOrder } from './perform-buyers.ts'
import { has } from './shops.ts'
import { sites } from './simulated-web.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

export const attestPath = '/v1/cite/attest'

/** A citation of a page that is cited once: its address tells one order from another. */
export async function attest(scene: Scene, step: Step, patienceMs?: number): Promise<boolean | undefined> {
  if (!has(scene.world.seed, 'citations')) return undefined
  const site = sites[step.b % sites.length]
  const id = `o-${scene.history.orders.length}`
  const init = postJson({
    source_url: citedUrl(site?.host ?? '', id),
    agent_wallet: scene.world.buyers[step.a % buyerCount]?.address,
  })
  return (await buyOnce(scene, newOrder(scene, step, attestPath, 5_000n, init), patienceMs)) === 200
}

const citedUrl = (host: string, id: string) => `http://${host}/${id}`
