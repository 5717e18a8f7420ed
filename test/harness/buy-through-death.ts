import type { PrivateKeyAccount } from 'viem/accounts'
import type { DevnetControl } from '../../packages/till/src/devnet/index.ts'
import { quote, send, signPayment } from './till-fixture.ts'

export type Wanted = { path: string; init: RequestInit }

const patienceMs = 120_000

/** Buys until it has the answer, knowing nothing but HTTP: the same payment while it is undecided, a new one after 402. */
export async function buyThroughDeath(
  till: { base: { control: Pick<DevnetControl, 'mine'> } },
  buyer: PrivateKeyAccount,
  wanted: Wanted,
  origins: { first: string; quoted?(): Promise<void>; after(): Promise<string> },
): Promise<{ statuses: (number | 'broken')[]; pricesMicro: readonly bigint[] }> {
  let offer = await quote(`${origins.first}${wanted.path}`, wanted.init)
  const pricesMicro: bigint[] = []
  const sign = () => {
    pricesMicro.push(BigInt(offer.accepts.find(({ network }) => network === 'eip155:8453')?.amount ?? 0))
    const validBefore = BigInt(Math.floor(Date.now() / 1000) + 20)
    return signPayment(buyer, offer, { validBefore, network: 'eip155:8453' })
  }
  const statuses: (number | 'broken')[] = []
  let payload = await sign()
  await origins.quoted?.()
  let origin = origins.first
  const giveUpAt = Date.now() + patienceMs
  while (statuses.at(-1) !== 200) {
    if (Date.now() > giveUpAt)
      throw new Error(`no answer after ${statuses.length} tries: … ${statuses.slice(-8).join(', ')}`)
    const status = await send(`${origin}${wanted.path}`, payload, wanted.init).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status
      },
      () => 'broken' as const,
    )
    statuses.push(status)
    if (status === 200) break
    if (status === 'broken') origin = await origins.after()
    // 402: nothing moved. 409: it paid, and this copy of it gets nothing: who signed it can prove that with a new one.
    if (status === 402 || status === 409) {
      // A price may have moved meanwhile.
      offer = await quote(`${origin}${wanted.path}`, wanted.init).catch(() => offer)
      payload = await sign()
    }
    await till.base.control.mine(1)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return { statuses, pricesMicro }
}
