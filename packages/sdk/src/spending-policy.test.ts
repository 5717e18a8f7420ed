import { expect, test } from 'vitest'
import type { PayableNetwork } from './networks.ts'
import type { Offer, PaymentRequired } from './payment-required.ts'
import { chooseOffer, type SpendingPolicy } from './spending-policy.ts'

const payer = `0x${'1'.repeat(40)}`
const token = (digit: string) => `0x${digit.repeat(40)}` as const
const usdc: PayableNetwork = { network: 'eip155:8453', usdc: token('a'), name: 'USD Coin', version: '2' }
const dollar: PayableNetwork = { network: 'eip155:8453', usdc: token('b'), name: 'USD X', version: '1' }
const permitted: PayableNetwork = { network: 'eip155:8453', usdc: token('c'), name: '', version: '' }

const offerOf = ({ network, usdc: asset, name, version }: PayableNetwork, amount: string): Offer => ({
  ...{ scheme: 'exact', network, asset, amount, payTo: token('9'), maxTimeoutSeconds: 60, raw: {} },
  extra: name === '' ? { assetTransferMethod: 'permit2' } : { name, version },
})

const choose = (offers: Offer[], networks: PayableNetwork[], more: Partial<SpendingPolicy> = {}) => {
  const required = {
    accepts: offers,
    resource: { url: 'https://a.example/x' },
    extensions: {},
  } as unknown as PaymentRequired
  try {
    return chooseOffer(required, { maxPerCallMicro: 1_000_000n, networks, hosts: undefined, ...more }, payer).network
  } catch (error) {
    return (error as { details?: { detail?: string } }).details?.detail ?? String(error)
  }
}

test('pays with the asset that the policy names, in its order, and with no other', () => {
  const offers = [offerOf(usdc, '10'), offerOf(dollar, '10')]
  expect(choose(offers, [usdc])).toBe(usdc)
  expect(choose(offers, [dollar, usdc])).toBe(dollar)
  expect(choose([offerOf(dollar, '10')], [usdc])).toContain('asset is not one that the policy names')
  // The words of another asset do not make it that asset.
  expect(choose([{ ...offerOf(usdc, '10'), asset: dollar.usdc }], [usdc, dollar])).toContain('another name or version')
})

test('each asset has its own limit below that of the client', () => {
  const offers = [offerOf(dollar, '20000'), offerOf(usdc, '20000')]
  const limited = { ...dollar, maxPerCallUsd: '0.019999' }
  expect(choose(offers, [limited, usdc])).toBe(usdc)
  expect(choose(offers, [limited])).toContain('0.02 USD asked, 0.019999 of this asset allowed')
  expect(choose(offers, [{ ...dollar, maxPerCallUsd: 'much' }])).toContain('of this asset allowed')
  expect(choose(offers, [{ ...dollar, maxPerCallUsd: '0.02' }])).toMatchObject({ usdc: dollar.usdc })
})

test('a token without an EIP-712 domain is paid by Permit2 only', () => {
  const offers = [offerOf(permitted, '10')]
  expect(choose(offers, [permitted])).toContain('needs an allowance for Permit2')
  expect(choose(offers, [permitted], { paymentMethods: { permit2: true } })).toBe(permitted)
  expect(choose([{ ...offers[0], extra: {} } as Offer], [permitted])).toContain('no EIP-712 domain')
})
