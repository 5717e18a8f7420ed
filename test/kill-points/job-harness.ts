import type { PrivateKeyAccount } from 'viem/accounts'
import { createJobsByHand } from '../harness/jobs-by-hand.ts'
import { createMoneyCheck } from '../harness/money-check.ts'
import { type NodeVariant, openVariant } from '../harness/node-variants.ts'
import { buy, openTill, type TillFixture } from '../harness/till-fixture.ts'

/** A fixture whose jobs run only on request: what is due stays due until the crashing process takes it up. */
export type JobHarness = {
  till: TillFixture
  env: Record<string, string>
  run(...jobs: string[]): Promise<void>
  /** An honest purchase that must succeed; returns its JSON. */
  paid(buyer: PrivateKeyAccount, path: string, init?: RequestInit): Promise<Record<string, unknown>>
  /** All that this wallet has paid is beyond any reorg. */
  untilFinal(payer: string): Promise<void>
  /** Both chains go on. */
  mine(): Promise<void>
  check(): Promise<void>
  close(): Promise<void>
}

export const finalityLag = 2

export async function openJobHarness(variant: NodeVariant, env: Record<string, string>): Promise<JobHarness> {
  const jobs = createJobsByHand()
  const till = await openTill({ ...(await openVariant(variant)), env, intercept: { job: jobs.intercept } })
  const chains = [till.base, till.polygon]
  for (const { control } of chains) control.setFinalityLag(finalityLag)
  const mine = async () => {
    for (const { control } of chains) await control.mine(finalityLag + 1)
  }
  const run = (...names: string[]) => jobs.run(names)
  // The books begin with what custody holds at a final block: the operator's money, which refunds and shares are paid with.
  await mine()
  await run('payments.reconcile')
  return {
    till,
    env,
    run,
    mine,
    paid: async (buyer, path, init = {}) => {
      const response = await buy(buyer, `${till.node.address}${path}`, {}, init)
      const text = await response.text()
      if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`)
      return JSON.parse(text) as Record<string, unknown>
    },
    untilFinal: async (payer) => {
      await until('final payments', async () => {
        await mine()
        await run('payments.finality')
        const { rows } = await till.db.owner.query<{ n: bigint }>(
          `select count(*) as n from payment where payer = $1 and not final`,
          [payer.toLowerCase()],
        )
        return rows[0]?.n === 0n
      })
    },
    check: await createMoneyCheck(till),
    close: () => till.close(),
  }
}

/** Tries again until it is so: each poll advances the work by a round, so there is nothing to wait for. */
export async function until(what: string, look: () => Promise<boolean>, triesMax = 60): Promise<void> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    if (await look()) return
    if (tries > 10) await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`never came about: ${what}`)
}
