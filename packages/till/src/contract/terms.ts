import type { Address } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import type { Micro } from '@assay/protocol/money'
import type { Network } from '../chain/index.ts'
import type { PaidRoute } from './paid-call.ts'

/** Receiving addresses by network: `pay_to` is the operator's own money, `custody` is partly or wholly others'. */
export type Payees = { pay_to: Readonly<Record<string, Address>>; custody: Readonly<Record<string, Address>> }

/** One way to pay for a call, entirely ours: nothing in it comes from the client. */
export type Terms = {
  network: Network
  asset: Address
  payTo: Address
  amountMicro: Micro
  maxTimeoutSeconds: number
}

/** Cautious agents refuse long windows; a minute and a half covers a slow block on either chain. */
export const maxTimeoutSeconds = 90

export function payeeAddress(payees: Payees, payee: PaidRoute['payee'], network: string): Address {
  const address = payees[payee][chainOfAsset(network)]
  if (!address) throw new Error(`no ${payee} address on ${network}`)
  return address
}

export function termsFor(
  networks: ReadonlyMap<string, Network>,
  payees: Payees,
  route: PaidRoute,
  priceMicro: Micro,
): Terms[] {
  return route.networks.map((caip2) => {
    const network = networks.get(caip2)
    if (!network) throw new Error(`route ${route.id} sells on ${caip2}, which is not configured`)
    return {
      network,
      asset: network.usdc.address,
      payTo: payeeAddress(payees, route.payee, caip2),
      amountMicro: priceMicro,
      maxTimeoutSeconds,
    }
  })
}
