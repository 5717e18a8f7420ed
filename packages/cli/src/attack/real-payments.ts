import { type Address, createWalletClient, defineChain, type Hex, http, parseAbi, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Attack, broken, held, leftOut, served, unclear } from './attack.ts'
import type { Answer, Target } from './target.ts'

const usdc = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

export const paying = (payment: string, more: object = {}) => ({ headers: { 'payment-signature': payment }, ...more })

/** What was charged, in purchases; undefined where no chain is known. */
async function chargedIn(target: Target, work: () => Promise<void>): Promise<number | undefined> {
  const before = await target.balance()
  await work()
  const after = await target.balance()
  return before === undefined || after === undefined ? undefined : Number(before - after) / Number(target.priceMicro)
}

const times = (charged: number | undefined) => (charged === undefined ? 'charge not seen' : `charged ${charged} times`)

async function buyOnce(target: Target): Promise<{ payment: string; answer: Answer }> {
  const payment = await target.pay()
  return { payment, answer: await target.send(paying(payment)) }
}

const storm: Attack = {
  id: 'storm',
  title: 'one payment, thirty copies at once',
  purchases: 1,
  run: async (target) => {
    const payment = await target.pay()
    let answers: Answer[] = []
    const charged = await chargedIn(target, async () => {
      answers = await Promise.all(Array.from({ length: 30 }, () => target.send(paying(payment))))
    })
    const good = answers.filter(({ status }) => served(status)).length
    if (charged !== undefined && charged > 1) return broken(`charged ${charged} times for one payment`)
    if (good > 1) return broken(`served ${good} times, ${times(charged)}`)
    if (good === 0 && charged === 1) return broken('charged, and nobody was served')
    return held(`served ${good} time, ${times(charged)}`)
  },
}

const replay: Attack = {
  id: 'replay',
  title: 'a settled payment again, here and for something else',
  purchases: 1,
  run: async (target) => {
    const { payment, answer } = await buyOnce(target)
    if (!served(answer.status)) return unclear(`an honest purchase was answered with ${answer.status}`)
    const elsewhere = target.url.search === '' ? '?other=1' : `${target.url.search}x`
    const answers = [
      await target.send(paying(payment)),
      await target.send(paying(payment, { path: `${target.url.pathname}${elsewhere}` })),
      await target.send({ headers: { 'payment-signature': payment, accept: 'text/plain, */*' } }),
    ]
    const again = answers.filter(({ status }) => served(status))
    return again.length > 0
      ? broken(`served ${again.length} more times for a payment that anybody can read from the chain`)
      : held(`refused with ${answers.map(({ status }) => status).join(', ')}`)
  },
}

const leak: Attack = {
  id: 'leak',
  title: 'the paid answer in what an unpaid caller gets, before and after',
  purchases: 1,
  run: async (target) => {
    const before = await target.send()
    const { answer } = await buyOnce(target)
    if (!served(answer.status)) return unclear(`an honest purchase was answered with ${answer.status}`)
    const after = await target.send()
    if (served(before.status) || served(after.status)) return broken('served to a caller who paid nothing')
    const inside = answer.body.length > 20 && (before.body.includes(answer.body) || after.body.includes(answer.body))
    return inside ? broken('the 402 contains the paid answer') : held(`unpaid callers get ${after.status}`)
  },
}

const hangUp: Attack = {
  id: 'hang-up',
  title: 'paying, hanging up, and asking again with the same payment',
  purchases: 3,
  run: async (target) => {
    const lost: string[] = []
    let answered = 0
    for (const hangUpMs of [0, 60, 250]) {
      const payment = await target.pay()
      let last: Answer = { status: 0, headers: {}, body: '' }
      const charged = await chargedIn(target, async () => {
        // A seller that was faster than the hang-up has answered, and owes nothing more.
        last = await target.send(paying(payment, { hangUpMs }))
        if (served(last.status)) answered += 1
        for (let attempt = 0; attempt < 20 && !served(last.status); attempt += 1) {
          last = await target.send(paying(payment))
          // An answer that is not given for the old payment is given for a fresh one of the same payer.
          if (last.status === 409) last = await target.send(paying(await target.pay()))
          if (!served(last.status)) await new Promise((resolve) => setTimeout(resolve, 500))
        }
      })
      if (charged !== undefined && charged > 1) return broken(`charged ${charged} times after a hang-up`)
      if (!served(last.status)) lost.push(`${hangUpMs} ms: ${last.status}, ${times(charged)}`)
    }
    if (lost.length > 0) return broken(`answer lost: ${lost.join('; ')}`)
    return held(answered === 3 ? 'each hang-up was answered' : 'the answer came in the end, charged once')
  },
}

export function walletOf(target: Target) {
  const chain = defineChain({
    id: Number(target.offer.network.slice('eip155:'.length)),
    name: 'attacked',
    nativeCurrency: { name: 'gas', symbol: 'GAS', decimals: 18 },
    rpcUrls: { default: { http: [target.rpc ?? ''] } },
  })
  return createWalletClient({ account: target.account, chain, transport: http(target.rpc) }).extend(publicActions)
}

const overdraw: Attack = {
  id: 'overdraw',
  title: 'ten purchases at once from a wallet that can pay one',
  purchases: 1,
  run: async (target) => {
    if (target.rpc === undefined) return leftOut('needs --rpc and gas')
    const poor = privateKeyToAccount(generatePrivateKey())
    const wallet = walletOf(target)
    const hash = await wallet.writeContract({
      address: target.offer.asset as Address,
      abi: usdc,
      functionName: 'transfer',
      args: [poor.address, target.priceMicro],
    })
    await wallet.waitForTransactionReceipt({ hash, pollingInterval: 100 })
    const payments = await Promise.all(Array.from({ length: 10 }, () => target.pay({ account: poor })))
    const answers = await Promise.all(payments.map((payment) => target.send(paying(payment))))
    const good = answers.filter(({ status }) => served(status)).length
    return good > 1 ? broken(`served ${good} times for the money of one purchase`) : held(`served ${good} time`)
  },
}

const cancelled: Attack = {
  id: 'cancelled',
  title: 'a payment that was cancelled on chain before it was sent',
  purchases: 0,
  run: async (target) => {
    if (target.rpc === undefined) return leftOut('needs --rpc and gas')
    const payment = await target.pay()
    const { payload } = JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as {
      payload: { authorization: { nonce: Hex } }
    }
    const { nonce } = payload.authorization
    const signature = await target.account.signTypedData({
      domain: {
        name: String(target.offer.extra.name ?? 'USD Coin'),
        version: String(target.offer.extra.version ?? '2'),
        chainId: Number(target.offer.network.slice('eip155:'.length)),
        verifyingContract: target.offer.asset as Address,
      },
      types: {
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: target.account.address, nonce },
    })
    const wallet = walletOf(target)
    const sent = await wallet
      .writeContract({
        address: target.offer.asset as Address,
        abi: usdc,
        functionName: 'cancelAuthorization',
        args: [
          target.account.address,
          nonce,
          Number.parseInt(signature.slice(130, 132), 16),
          `0x${signature.slice(2, 66)}`,
          `0x${signature.slice(66, 130)}`,
        ],
      })
      .catch(() => undefined)
    if (sent === undefined) return leftOut('the token of this chain cannot cancel')
    await wallet.waitForTransactionReceipt({ hash: sent, pollingInterval: 100 })
    const { status } = await target.send(paying(payment))
    return served(status) ? broken('served for a payment that can never be taken') : held(`refused with ${status}`)
  },
}

export const realPayments: readonly Attack[] = [storm, replay, leak, hangUp, overdraw, cancelled]
