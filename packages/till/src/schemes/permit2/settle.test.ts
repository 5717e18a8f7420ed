import { parseAddress } from '@assay/protocol/address'
import type { Permit2Transfer } from '@assay/protocol/typed-data/permit2'
import { expect, test } from 'vitest'
import type { ChainPort } from '../../chain/index.ts'
import { knownNetworks } from '../../chain/network.ts'
import type { Facilitator, FacilitatorPayment } from '../../contract/facilitator.ts'
import { isPermit2, sponsoringKey } from '../../facilitators/permit2-payment.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openPermit2Schemes } from './index.ts'

const [network] = knownNetworks
const wallet = parseAddress(`0x${'a'.repeat(40)}`)
if (!network || !wallet) throw new Error('no network to test with')

const transfer: Permit2Transfer = {
  ...{ from: wallet, token: network.usdc.address, to: wallet, amount: 10n },
  ...{ nonce: 1n, deadline: 2_000_000_000n, validAfter: 0n },
}
const tokenPermit = { value: 10n, nonce: 0n, deadline: 2_000_000_000n, signature: '0x01' } as const

const settled = async (sponsored: boolean): Promise<FacilitatorPayment[]> => {
  const given: FacilitatorPayment[] = []
  const extensions = sponsored ? [sponsoringKey] : []
  const schemes = await openPermit2Schemes({
    chains: new Map([[network.caip2, { permit2: { isDeployed: async () => true } } as unknown as ChainPort]]),
    clock: systemClock,
    facilitator: { settlersOf: () => ({ wallets: [wallet], extensions }) } as unknown as Facilitator,
  })
  const scheme = schemes.find(({ id }) => id === 'exact-permit2')
  const verified = {
    payment: { signed: { transfer, signature: '0x02', tokenPermit } },
    terms: { network, maxTimeoutSeconds: 60 },
  }
  const charge = { id: 'pay_1', network: `${network.caip2}/erc20:${network.usdc.address}`, amountMicro: 10n, sold: {} }
  const facilitator = {
    settle: async (payment: FacilitatorPayment) => {
      given.push(payment)
      return { status: 'submitted' }
    },
  }
  await scheme?.settle(verified as never, charge as never, facilitator as never, new AbortController().signal)
  return given
}

test('an approval goes with a payment only where somebody carries approvals', async () => {
  for (const sponsored of [true, false]) {
    const [payment] = await settled(sponsored)
    expect(payment && isPermit2(payment) && payment.permit2.tokenPermit).toEqual(sponsored ? tokenPermit : undefined)
  }
})
