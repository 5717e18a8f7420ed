import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Attack, nothingServed } from './attack.ts'
import { encode, type PaymentChange, type Target } from './target.ts'

/** Payments that must buy nothing and take nothing. */
function refused(
  id: string,
  title: string,
  make: (target: Target) => readonly PaymentChange[] | Promise<readonly PaymentChange[]>,
): Attack {
  return {
    id,
    title,
    purchases: 0,
    run: async (target) => {
      const before = await target.balance()
      const statuses: number[] = []
      for (const change of await make(target)) {
        const payment = await target.pay(change)
        statuses.push((await target.send({ headers: { 'payment-signature': payment } })).status)
      }
      const after = await target.balance()
      return nothingServed(statuses, before === undefined || after === undefined ? undefined : before - after)
    },
  }
}

const nowSeconds = () => Math.floor(Date.now() / 1000)
const stranger = () => privateKeyToAccount(generatePrivateKey())
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** One byte is another one, whatever it was. */
function changed(signature: Hex): Hex {
  const byte = Number.parseInt(signature.slice(20, 22), 16) ^ 0xff
  return `${signature.slice(0, 20)}${byte.toString(16).padStart(2, '0')}${signature.slice(22)}` as Hex
}

/** The other signature of the same message: (r, n - s) with the parity turned. */
function mirrored(signature: Hex): Hex {
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = Number.parseInt(signature.slice(130, 132), 16)
  return `0x${signature.slice(2, 66)}${(order - s).toString(16).padStart(64, '0')}${(v === 27 ? 28 : 27).toString(16)}`
}

export const forgedPayments: readonly Attack[] = [
  refused('underpay', 'less than the price, told and untold', ({ priceMicro }) => {
    const less = (priceMicro - 1n).toString()
    return [
      { authorization: { value: less } },
      { authorization: { value: less }, accepted: { amount: less } },
      { authorization: { value: '0' }, accepted: { amount: '0' } },
      { authorization: { value: less }, accepted: { amount: `${less}.9` } },
    ]
  }),
  refused('other-payee', 'money for the buyer itself or a stranger', ({ account }) => {
    const { address } = stranger()
    return [
      { authorization: { to: account.address } },
      { authorization: { to: account.address }, accepted: { payTo: account.address } },
      { authorization: { to: address }, accepted: { payTo: address } },
    ]
  }),
  refused('other-asset', 'a token that is not the one asked for', () => {
    const { address } = stranger()
    return [{ verifyingContract: address }, { verifyingContract: address, accepted: { asset: address } }]
  }),
  refused('other-chain', 'a signature for another chain', () => [
    { chainId: 1 },
    { chainId: 1, accepted: { network: 'eip155:1' } },
    { chainId: 31337, accepted: { network: 'eip155:31337' } },
  ]),
  refused('time', 'too late, too early, at the last second', () => [
    { authorization: { validBefore: String(nowSeconds() - 1) } },
    { authorization: { validAfter: String(nowSeconds() + 3_600), validBefore: String(nowSeconds() + 7_200) } },
    { authorization: { validBefore: String(nowSeconds() + 1) } },
    { authorization: { validAfter: '10', validBefore: '9' } },
  ]),
  refused('signature', "somebody else's, a changed and a mirrored signature", ({ account }) => [
    { account: stranger(), authorization: { from: account.address } },
    { signature: changed },
    { signature: mirrored },
    { signature: () => `0x${'00'.repeat(65)}` as Hex },
    { signature: () => '0x' },
  ]),
  refused('no-funds', 'a wallet that has nothing', () => [{ account: stranger() }]),
  refused('version', 'other versions and schemes', () => [
    { document: { x402Version: 1 } },
    { document: { x402Version: 99 } },
    { accepted: { scheme: 'upto' } },
    { accepted: { scheme: 'free' } },
  ]),
  {
    id: 'malformed',
    title: 'payments that are broken, doubled, deep or huge',
    purchases: 0,
    run: async (target) => {
      const good = JSON.parse(Buffer.from(await target.pay(), 'base64').toString('utf8')) as Record<string, unknown>
      const text = JSON.stringify(good)
      const strange = (value: string) => ({
        payload: { ...(good.payload as object), authorization: { ...authorizationOf(good), value } },
      })
      const payments = [
        Buffer.from(text.slice(0, -10)).toString('base64'),
        Buffer.from(text.replace('{', '{"payload":{},')).toString('base64'),
        encode([good]),
        encode({ ...good, ['__proto__x']: {}, payload: null }),
        Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}`).toString('base64'),
        ...['-1', '1e3', '0x10', ' 1000', '1000.0', '9'.repeat(90)].map((value) =>
          encode({ ...good, ...strange(value) }),
        ),
      ]
      const before = await target.balance()
      const statuses: number[] = []
      for (const payment of payments)
        statuses.push((await target.send({ headers: { 'payment-signature': payment } })).status)
      const after = await target.balance()
      return nothingServed(statuses, before === undefined || after === undefined ? undefined : before - after)
    },
  },
]

const authorizationOf = (payment: Record<string, unknown>) =>
  (payment.payload as { authorization: Record<string, string> }).authorization
