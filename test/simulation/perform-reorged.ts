import type { Scene } from './buyers.ts'
import { buy, subscribe } from './perform-buyers.ts'
import { attest } from './perform-citations.ts'
import { drawCredit, topUp } from './perform-credit.ts'
import { performWorld } from './perform-world.ts'
import type { Step } from './steps.ts'

/** Bought, and its block is replaced at once; what was paid in is used before the node knows. */
export async function reorgedBuy(scene: Scene, step: Step): Promise<boolean | undefined> {
  const bought = await firstOf(scene, step)
  const { chains, time } = scene.world
  const control = chains[0]?.control
  // Half of the time it stays out long enough for the node to take everything back; else it lands again at once.
  const stays = step.a % 2 === 0
  if (stays) await control?.holdMining()
  // On the chain where it was paid, and seldom with the same transactions again.
  await performWorld.reorg(scene, { ...step, a: 1, b: step.a, c: step.c % 5 === 0 ? 0 : 1 + (step.c % 2) })
  if (stays) {
    await time.pass(12_000)
    await control?.releaseMining()
  }
  return bought
}

async function firstOf(scene: Scene, step: Step): Promise<boolean | undefined> {
  if (step.b % 8 === 0) return subscribe(scene, step)
  if (step.b % 4 === 1) {
    const paidIn = await topUp(scene, step)
    if (paidIn) await drawCredit(scene, step)
    return paidIn
  }
  return (step.b % 4 === 2 ? await attest(scene, step) : undefined) ?? buy(scene, step)
}
