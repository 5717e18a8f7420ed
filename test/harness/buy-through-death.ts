import type { PrivateKeyAccount } from 'viem/accounts'
import type { DevnetControl } from '../../packages/till/src/devnet/index.ts'
import { encodePayload, quote, signPayment } from './till-fixture.ts'

/** A signed payment as it is sent, and what it may cost. */
export type SignedPayment = { headers: Record<string, string>; micro: bigint }

export type Wanted = {
  path: string
  init: RequestInit
  /** Asks for the price and signs; `exact` by EIP-3009 without it. */
  pay?(buyer: PrivateKeyAccount, url: string): Promise<SignedPayment>
}

/** Valid for a short time, so that what was never carried is soon known to be over. */
export const validSeconds = 20

async function payExact(buyer: PrivateKeyAccount, url: string, init: RequestInit): Promise<SignedPayment> {
  const offer = await quote(url, init)
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + validSeconds)
  const payload = await signPayment(buyer, offer, { validBefore, network: 'eip155:8453' })
  const micro = BigInt(offer.accepts.find(({ network }) => network === 'eip155:8453')?.amount ?? 0)
  return { headers: { 'payment-signature': encodePayload(payload) }, micro }
}

const patienceMs = 120_000

/** Buys until it has the answer, knowing nothing but HTTP: the same payment while it is undecided, a new one after 402. */
export async function buyThroughDeath(
  till: { base: { control: Pick<DevnetControl, 'mine'> } },
  buyer: PrivateKeyAccount,
  wanted: Wanted,
  origins: { first: string; quoted?(): Promise<void>; after(): Promise<string> },
): Promise<{ statuses: (number | 'broken')[]; pricesMicro: readonly bigint[] }> {
  let origin = origins.first
  const pricesMicro: bigint[] = []
  const sign = async () => {
    const url = `${origin}${wanted.path}`
    const paid = await (wanted.pay?.(buyer, url) ?? payExact(buyer, url, wanted.init))
    pricesMicro.push(paid.micro)
    return paid.headers
  }
  const statuses: (number | 'broken')[] = []
  let payment = await sign()
  await origins.quoted?.()
  const giveUpAt = Date.now() + patienceMs
  while (statuses.at(-1) !== 200) {
    if (Date.now() > giveUpAt)
      throw new Error(`no answer after ${statuses.length} tries: … ${statuses.slice(-8).join(', ')}`)
    const headers = { ...(wanted.init.headers as Record<string, string>), ...payment }
    const status = await fetch(`${origin}${wanted.path}`, { ...wanted.init, headers }).then(
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
      payment = await sign().catch(() => payment)
    }
    await till.base.control.mine(1)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return { statuses, pricesMicro }
}
