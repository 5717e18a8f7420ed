import { Broken, requireExactly } from '../harness/broken.ts'
import { buyThroughDeath } from '../harness/buy-through-death.ts'
import { startLife } from '../harness/crash-child.ts'
import { spentOnChain } from '../harness/invariants.ts'
import type { KillPlan } from '../harness/kill-points.ts'
import type { TillFixture } from '../harness/till-fixture.ts'
import { drawThroughDeath, type RequestPath } from './request-paths.ts'
import type { Life } from './run-deaths.ts'

export type Place = { till: TillFixture; env: Record<string, string> }

/** One purchase from a process that may die in it; the node of the fixture recovers and answers from then on. */
export async function dieInRequest(place: Place, path: RequestPath, plan?: KillPlan): Promise<Life> {
  const { till, env } = place
  const buyer = await till.newBuyer(path.fundedMicro)
  const [wanted, crashing] = await Promise.all([
    path.wanted(till, buyer),
    startLife(till, { variant: path.variant, env, plan }),
  ])
  const before = await spentOnChain(till, 'base', buyer.address, path.fundedMicro)
  let diedAtMs: number | undefined
  const origins = {
    first: crashing.url,
    quoted: crashing.arm,
    after: async () => {
      const signal = await crashing.ended
      if (signal !== 'SIGKILL') throw new Error(`it ended by ${signal}`)
      diedAtMs ??= Date.now()
      if (path.draws) await endHolds(till)
      return till.node.address
    },
  }
  let pricesMicro: readonly bigint[] = [0n]
  if (path.draws) {
    await crashing.arm()
    await drawThroughDeath(buyer, wanted, origins)
  } else ({ pricesMicro } = await buyThroughDeath(till, buyer, wanted, origins))
  const recoveryMs = diedAtMs === undefined ? 0 : Date.now() - diedAtMs
  const calls = plan === undefined ? await crashing.seen() : []
  await crashing.stop()
  const spent = (await spentOnChain(till, 'base', buyer.address, path.fundedMicro)) - before
  // One of those that were signed for: a price may move between two of them.
  requireExactly('charged', spent, pricesMicro.find((price) => price === spent) ?? pricesMicro[0] ?? 0n)
  requireExactly('effects', await path.effects(till, buyer), 1)
  return { calls, died: (await crashing.ended) === 'SIGKILL', recoveryMs }
}

/** Forty seconds pass: what a dead process held for a call is given back by the next round. */
const endHolds = (till: TillFixture) =>
  till.db.owner.query(`update entitled_call set expires_at = now() where state = 'held'`)

/** Until nothing is under way any more. */
export async function settleAll(till: TillFixture): Promise<void> {
  for (const giveUpAt = Date.now() + 60_000; Date.now() < giveUpAt; ) {
    const { rows } = await till.db.owner.query<{ n: bigint }>(
      `select count(*) as n from payment where state in ('claimed','settling','unknown','settled')`,
    )
    if (rows[0]?.n === 0n) return
    await till.base.control.mine(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Broken('lost', 'payments stay in a middle state')
}
