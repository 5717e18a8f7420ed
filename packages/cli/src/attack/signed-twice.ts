import { randomBytes } from 'node:crypto'
import { createAssayClient, readCredit } from '@assay/sdk'
import { type Address, type Hex, parseAbi, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Attack, broken, held, leftOut, served } from './attack.ts'
import { paying, walletOf } from './real-payments.ts'
import type { Target } from './target.ts'

const usdc = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

type Authorization = Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>

/** Carries a payment to the chain without the seller. False when the token refuses it. */
async function carry(target: Target, payment: string): Promise<boolean> {
  const { payload } = JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as {
    payload: { signature: Hex; authorization: Authorization }
  }
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization
  const wallet = walletOf(target)
  const hash = await wallet
    .writeContract({
      address: target.offer.asset as Address,
      abi: usdc,
      functionName: 'transferWithAuthorization',
      args: [
        from as Address,
        to as Address,
        BigInt(value),
        BigInt(validAfter),
        BigInt(validBefore),
        nonce as Hex,
        Number.parseInt(payload.signature.slice(130, 132), 16),
        `0x${payload.signature.slice(2, 66)}`,
        `0x${payload.signature.slice(66, 130)}`,
      ],
    })
    .catch(() => undefined)
  if (hash === undefined) return false
  return (await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 })).status === 'success'
}

/** Credit of the wallet, where the seller is a node that keeps some; undefined elsewhere. */
async function creditOf({ url, account, offer }: Target): Promise<bigint | undefined> {
  const client = createAssayClient({
    account: privateKeyToAccount(generatePrivateKey()),
    networks: [],
    maxPerCallUsd: '0',
  })
  try {
    const { credit } = await readCredit(client, url.origin, account.address)
    return BigInt(credit.find(({ network }) => network === offer.network)?.credit_micro ?? 0)
  } catch {
    return undefined
  }
}

/** Credit that is booked minutes later is not seen here. */
const doubleSignedNonce: Attack = {
  id: 'double-signed-nonce',
  title: 'one nonce signed twice, and the cheaper one carried to the chain',
  purchases: 1,
  run: async (target) => {
    if (target.rpc === undefined) return leftOut('needs --rpc and gas')
    const creditBefore = await creditOf(target)
    const seen: number[] = []
    let carried = 0n
    for (const other of [{ value: '1' }, { to: target.account.address as string }]) {
      const nonce = toHex(randomBytes(32)) as string
      const payment = await target.pay({ authorization: { nonce } })
      const cheaper = await target.pay({ authorization: { nonce, ...other } })
      if (!(await carry(target, cheaper))) return leftOut('the token of this chain takes no authorizations')
      if ('value' in other) carried += 1n
      // Once more after the seller had time to look.
      for (let attempt = 0; attempt < 2; attempt += 1) seen.push((await target.send(paying(payment))).status)
    }
    // The cheaper one again, while the seller settles the other: one of them is taken.
    const before = await target.balance()
    const nonce = toHex(randomBytes(32)) as string
    const payment = await target.pay({ authorization: { nonce } })
    const cheaper = await target.pay({ authorization: { nonce, value: '1' } })
    const [answer, cheaperTaken] = await Promise.all([target.send(paying(payment)), carry(target, cheaper)])
    const after = await target.balance()
    if (seen.some(served)) return broken('served for a nonce that was used for less')
    if (served(answer.status) && cheaperTaken) return broken('served for one micro-USDC')
    const charged = before !== undefined && after !== undefined ? before - after : 0n
    if (served(answer.status) && charged < target.priceMicro) return broken(`served for ${charged} micro-USDC`)
    if (cheaperTaken) carried += 1n
    const creditAfter = await creditOf(target)
    const gained = creditBefore === undefined || creditAfter === undefined ? 0n : creditAfter - creditBefore
    if (gained > carried) return broken(`credited ${gained} micro-USDC for ${carried} that arrived`)
    return held(`answered ${[...new Set([...seen, answer.status])].join(', ')}`)
  },
}

const lateFacilitator: Attack = {
  id: 'late-facilitator',
  title: 'a payment that was refused, then carried to the chain',
  purchases: 1,
  run: async (target) => {
    if (target.rpc === undefined) return leftOut('needs --rpc and gas')
    const poor = privateKeyToAccount(generatePrivateKey())
    const payment = await target.pay({ account: poor })
    const first = await target.send(paying(payment))
    if (served(first.status)) return broken('served for a wallet that has nothing')
    const wallet = walletOf(target)
    const hash = await wallet.writeContract({
      address: target.offer.asset as Address,
      abi: usdc,
      functionName: 'transfer',
      args: [poor.address, target.priceMicro],
    })
    await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 })
    if (!(await carry(target, payment))) return leftOut('the token of this chain takes no authorizations')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 3; attempt += 1) statuses.push((await target.send(paying(payment))).status)
    const list = [...new Set(statuses)].join(', ')
    if (statuses.filter(served).length > 1) return broken(`served more than once (${list})`)
    if (statuses.includes(402)) return broken('asks for another payment for money that it has')
    return held(`refused with ${first.status}, then answered ${list}`)
  },
}

/** More header lines than many servers read: what is behind them silently vanishes. */
const flood = Object.fromEntries(Array.from({ length: 1_100 }, (_, index) => [`x${index}`, '1']))

const headerFlood: Attack = {
  id: 'header-flood',
  title: 'a payment behind more than a thousand header lines',
  purchases: 1,
  run: async (target) => {
    const before = await target.balance()
    const { status } = await target.send({ headers: { ...flood, 'payment-signature': await target.pay() } })
    const after = await target.balance()
    if (before === undefined || after === undefined) return held(`answered ${status}, charge not seen`)
    const charged = before - after
    if (served(status) && charged < target.priceMicro) return broken(`served for ${charged} micro-USDC`)
    if (!served(status) && charged > 0n) return broken(`answered ${status}, and ${charged} micro-USDC were taken`)
    return held(`answered ${status}, ${charged} micro-USDC taken`)
  },
}

export const signedTwice: readonly Attack[] = [doubleSignedNonce, lateFacilitator, headerFlood]
