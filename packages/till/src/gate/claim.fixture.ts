import type { Claim } from './store-claim.ts'

/** Its own claim for each number, as tests need one. */
export const sampleClaim = (number: number): Claim => ({
  id: `pay_${number}`,
  network: 'eip155:8453',
  asset: `eip155:8453/erc20:0x${'a'.repeat(40)}`,
  payer: `0x${number.toString(16).padStart(40, '0')}`,
  payerIsKey: true,
  scheme: 'exact',
  paymentKey: `0x${number.toString(16).padStart(64, '0')}`,
  signedDigest: Buffer.from(number.toString(16).padStart(64, '0'), 'hex'),
  payTo: `0x${'b'.repeat(40)}`,
  payee: 'pay_to',
  quotedMicro: 5_000n,
  amountMicro: 5_000n,
  validBefore: 4_000_000_000n,
  routeId: 'test.route',
  resource: 'http://127.0.0.1/test',
  fingerprint: Buffer.from(`pay_${number}`),
  identifierHash: null,
  ref: null,
  aff: null,
  revocable: false,
  addsCredit: false,
  headBlock: 1n,
  balanceMicro: 1_000_000n,
  ignoreUndelivered: false,
})
