import { encodeFunctionData, type Hex } from 'viem'
import { contractArtifacts } from '../../packages/node/src/devnet/artifacts.ts'
import type { Address } from '../../packages/node/src/kernel/address.ts'
import { askPrice, authorizationSpent, chainOf, pay, type Scene, sign } from './buyers.ts'
import type { Order } from './history.ts'
import { recent } from './perform-buyers.ts'
import { sendAs } from './send-transaction.ts'
import { countedRoutes } from './shops.ts'
import type { Step } from './steps.ts'
import { Violation } from './violation.ts'
import { buyerCount } from './world.ts'

const strangerAddress: Address = '0x00000000000000000000000000000000000000b0'
const usdcAbi = contractArtifacts.testUsdc.abi

function attackOrder({ history }: Scene, step: Step, path: string, priceMicro: bigint, bent = false): Order {
  const id = `x-${history.orders.length}`
  const order: Order = {
    id,
    buyer: step.a % buyerCount,
    path: path.replace('{id}', id),
    init: {},
    priceMicro,
    honest: false,
    bent,
    identifier: undefined,
    body: undefined,
    answeredBy: undefined,
    boughtAgain: new Set(),
  }
  history.orders.push(order)
  return order
}

/** A payment made for one thing, shown for another of the same price. */
export async function replayElsewhere(scene: Scene, step: Step): Promise<boolean | undefined> {
  const sent = recent(scene, step)
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!sent || !route) return undefined
  await pay(scene, attackOrder(scene, step, `${route.path}?order={id}`, route.micro), sent.payload)
  return true
}

/** Too little, too much, to somebody else, out of time, or with a signature of nothing: never an answer. */
export async function bendPayment(scene: Scene, step: Step): Promise<boolean | undefined> {
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return undefined
  const order = attackOrder(scene, step, `${route.path}?order={id}`, route.micro, true)
  const offer = await askPrice(scene, order)
  if (!offer) return undefined
  const second = BigInt(Math.floor(scene.world.time.nowMs() / 1000))
  const bends = [
    { value: route.micro - 1n },
    { value: route.micro + 1n },
    { to: strangerAddress },
    { validBefore: second - 1n },
    { validAfter: second + 40n },
    { chainId: 1 },
    {
      signature: (signature: Hex): Hex =>
        `${signature.slice(0, -4)}${signature.endsWith('1c') ? '1b1b' : '1c1c'}` as Hex,
    },
  ]
  const payload = await sign(scene, order, offer, bends[step.c % bends.length])
  const status = await pay(scene, order, payload)
  if (status === 200) throw new Violation('promise 2', `a bent payment bought ${order.id}`)
  if (await authorizationSpent(scene, payload))
    throw new Violation('promise 2', `a bent payment of ${order.id} was taken`)
  return true
}

const transferCall = (payload: { payload: { signature: Hex; authorization: Record<string, string> } }): Hex => {
  const { from, to, value, validAfter, validBefore, nonce } = payload.payload.authorization as Record<string, Hex>
  return encodeFunctionData({
    abi: usdcAbi,
    functionName: 'transferWithAuthorization',
    args: [
      from,
      to,
      BigInt(value as string),
      BigInt(validAfter as string),
      BigInt(validBefore as string),
      nonce,
      payload.payload.signature,
    ],
  })
}

/** Somebody else carries an authorization to the chain, before the node sees it or while it works on it. */
export async function carryFirst(scene: Scene, step: Step): Promise<boolean | undefined> {
  const { world } = scene
  if (step.c % 2 === 0) {
    const sent = recent(scene, step)
    // Money that goes elsewhere is none of the node's business.
    if (!sent || sent.payload.payload.authorization['to']?.toLowerCase() === strangerAddress) return undefined
    const chain = chainOf(world, String(sent.payload.accepted['network']))
    await sendAs(world, chain, step.b % buyerCount, chain.usdc, transferCall(sent.payload))
    return true
  }
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return undefined
  const order = attackOrder(scene, step, `${route.path}?order={id}`, route.micro)
  const offer = await askPrice(scene, order)
  if (!offer) return undefined
  const payload = await sign(scene, order, offer)
  const chain = chainOf(world, String(payload.accepted['network']))
  await sendAs(world, chain, step.b % buyerCount, chain.usdc, transferCall(payload))
  await pay(scene, order, payload)
  return true
}

/** The payer takes an authorization back on chain, after having shown it. */
export async function cancel(scene: Scene, step: Step): Promise<boolean | undefined> {
  const sent = recent(scene, step)
  const account = sent && scene.world.buyers[sent.order.buyer]
  if (!sent || !account) return undefined
  const accepted = sent.payload.accepted as {
    network: string
    asset: Address
    extra: { name: string; version: string }
  }
  const chain = chainOf(scene.world, accepted.network)
  const signature = await account.signTypedData({
    domain: { ...accepted.extra, chainId: chain.chainId, verifyingContract: accepted.asset },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: account.address, nonce: sent.nonce as Hex },
  })
  const data = encodeFunctionData({
    abi: usdcAbi,
    functionName: 'cancelAuthorization',
    args: [account.address, sent.nonce, signature],
  })
  await sendAs(scene.world, chain, sent.order.buyer, chain.usdc, data)
  return true
}

/** Money that comes without a word. */
export async function plainTransfer(scene: Scene, step: Step): Promise<boolean | undefined> {
  const chain = scene.world.chains[step.b % 2]
  if (!chain) return undefined
  const to = step.c % 2 === 0 ? scene.world.payTo : scene.world.custody
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, BigInt(1 + step.c)] })
  await sendAs(scene.world, chain, step.a % buyerCount, chain.usdc, data)
  return true
}
