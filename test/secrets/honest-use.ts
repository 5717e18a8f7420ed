import { setTimeout as sleep } from 'node:timers/promises'
import { hexToBytes } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { createAskEligibility, openHookOutbound } from '../../packages/node/src/shops/options/ask-eligibility.ts'
import { requestChallenge, signIn } from '../../packages/sdk/src/index.ts'
import { demoAccount } from '../../packages/till/src/devnet/index.ts'
import { decodeHeader, echoPath, type PaymentRequired, signPayment } from '../harness/till-fixture.ts'
import { together } from '../harness/until.ts'
import type { GuardedNode } from './guarded-node.ts'
import { type Answer, exampleOf, returnsToken, type Visitor } from './visitor.ts'

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const json = (body: unknown, more: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
  body: JSON.stringify(body),
})

function requireStatus(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`${answer.seen.place}: ${answer.body.slice(0, 300)}`)
  return answer
}

/** Every route with its example, what is sold being bought; returns how many answers were paid for. */
export async function visitEverything(guarded: GuardedNode, visitor: Visitor): Promise<number> {
  const workers = 4
  const buyers = await Promise.all(Array.from({ length: workers }, () => guarded.newBuyer()))
  const routes = guarded.routes()
  let bought = 0
  await together(routes.length, workers, async (index, worker) => {
    const route = routes[index] as (typeof routes)[number]
    const { url, init } = exampleOf(guarded.node.url, route)
    const answer = await visitor.buy(buyers[worker] as PrivateKeyAccount, url, init)
    if (answer.payment === undefined || answer.status !== 200) return
    bought += 1
    if (returnsToken(route)) visitor.handedOut('subscription token', answer, ({ token }) => token)
  })
  return bought
}

/** Tokens, sessions and passes: each given once to its owner and then used. */
export async function useTokens(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  const at = (path: string) => `${guarded.node.url}${path}`
  const owner = await guarded.newBuyer()
  const subscribe = await visitor.buy(owner, at('/matrix/subscribe/standard'))
  const token = visitor.handedOut('subscription token', requireStatus(subscribe, 200), (body) => body.token)
  // A lost answer is given again to its payer.
  const again = await visitor.ask(at('/matrix/subscribe/standard'), {
    headers: { 'payment-signature': subscribe.payment ?? '' },
  })
  visitor.handedOut('subscription token', requireStatus(again, 200), (body) => body.token)
  requireStatus(await visitor.ask(at('/test/feed/live'), bearer(token)), 200)
  requireStatus(await visitor.ask(at('/test/feed/vip'), bearer(token)), 402)
  requireStatus(await visitor.ask(at('/v1/subscriptions'), bearer(token)), 200)
  const rotated = requireStatus(await visitor.askAs(owner, at('/v1/subscriptions/rotate'), { method: 'POST' }), 200)
  const second = visitor.handedOut('subscription token', rotated, (body) => body.token)
  requireStatus(await visitor.ask(at('/test/feed/live'), bearer(token)), 401)
  requireStatus(await visitor.ask(at('/test/feed/live'), bearer(second)), 200)
  await redeem(guarded, visitor, owner)
  await stream(guarded, visitor, owner)
  requireStatus(await visitor.askAs(owner, at('/v1/subscriptions/revoke'), { method: 'POST' }), 200)
}

async function redeem(guarded: GuardedNode, visitor: Visitor, owner: PrivateKeyAccount): Promise<void> {
  const query = `wallet=${owner.address}&reward=pull&points=1000`
  const read = () => visitor.ask(`${guarded.node.url}/redeem/info?${query}`)
  let info = requireStatus(await read(), 200)
  // Points can be used once their payment is final, which a job finds out.
  for (let round = 0; round < 100 && JSON.parse(info.body).pending !== '0'; round += 1) {
    await sleep(100)
    info = await read()
  }
  const { nonce, issued_at, expires_at, typed_data } = JSON.parse(info.body).sign
  const signature = await owner.signTypedData(typed_data)
  guarded.watch.keep('redemption signature', hexToBytes(signature))
  const body = { wallet: owner.address, points: '1000', reward: 'pull', nonce, issued_at, expires_at, signature }
  const redeemed = requireStatus(await visitor.ask(`${guarded.node.url}/redeem`, json(body)), 200)
  const pass = visitor.handedOut('pass', redeemed, (answer) => answer.pass.token)
  requireStatus(await visitor.ask(`${guarded.node.url}/test/feed/live`, bearer(pass)), 200)
  await visitor.ask(`${guarded.node.url}/test/feed/live`, bearer(pass))
}

async function stream(guarded: GuardedNode, visitor: Visitor, owner: PrivateKeyAccount): Promise<void> {
  const url = `${guarded.node.url}/v1/market/intent-stream`
  const bought = requireStatus(await visitor.buy(owner, url), 200)
  const token = visitor.handedOut('stream token', bought, (body) => body.token)
  const headers = { ...bearer(token).headers, accept: 'text/event-stream' }
  requireStatus(await visitor.ask(url, { headers }), 200)
}

/** Who one is: a session, signed requests, the operator's own pages, and the token of the facilitator. */
export async function proveIdentity(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  const at = (path: string) => `${guarded.node.url}${path}`
  const account = await guarded.newBuyer()
  const header = await signIn(await requestChallenge(guarded.node.url), { account, origin: guarded.node.url })
  const { signature } = decodeHeader<{ signature: `0x${string}` }>(header)
  guarded.watch.keep('sign-in signature', hexToBytes(signature))
  const signedIn = await visitor.ask(at('/v1/auth/session'), { method: 'POST', headers: { 'sign-in-with-x': header } })
  const session = visitor.handedOut('session', requireStatus(signedIn, 200), (body) => body.token)
  requireStatus(await visitor.ask(at('/v1/auth/session'), bearer(session)), 200)
  requireStatus(await visitor.ask(at('/test/feed/live'), bearer(session)), 402)
  requireStatus(
    await visitor.ask(at('/v1/auth/session'), { method: 'POST', headers: { 'sign-in-with-x': header } }),
    401,
  )
  requireStatus(await visitor.askAs(account, at('/v1/wallet/payments')), 200)
  requireStatus(await visitor.askAs(account, at('/v1/operator/overview')), 403)
  const operator = privateKeyToAccount(demoAccount('operator').privateKey)
  requireStatus(await visitor.askAs(operator, at('/v1/operator/overview')), 200)
  const offered = await visitor.ask(at(echoPath))
  const offer = decodeHeader<PaymentRequired>(offered.headers.get('payment-required'))
  const payment = await signPayment(account, offer)
  guarded.watch.keep('payment signature', hexToBytes(payment.payload.signature))
  const request = { x402Version: 2, paymentPayload: payment, paymentRequirements: offer.accepts[0] }
  for (const token of [guarded.canaries.facilitatorToken, 'wrong'.repeat(8)])
    await visitor.ask(at('/facilitator/verify'), json(request, bearer(token).headers))
  await useTools(guarded, visitor, account)
  await askHook(guarded)
}

/** The same purchases by way of the Model Context Protocol. */
async function useTools(guarded: GuardedNode, visitor: Visitor, account: PrivateKeyAccount): Promise<void> {
  const call = (method: string, params: unknown) =>
    visitor.ask(`${guarded.node.url}/mcp`, json({ jsonrpc: '2.0', id: 1, method, params }))
  const asked = { name: 'sandbox_echo', arguments: { message: 'tool' } }
  const offered = JSON.parse(requireStatus(await call('tools/call', asked), 200).body)
  const payment = await signPayment(account, offered.result.structuredContent as PaymentRequired)
  guarded.watch.keep('payment signature', hexToBytes(payment.payload.signature))
  requireStatus(await call('tools/list', {}), 200)
  const paid = { ...asked, _meta: { 'x402/payment': payment } }
  if (!requireStatus(await call('tools/call', paid), 200).body.includes('paid_by')) throw new Error('nothing was sold')
  await call('tools/call', paid)
}

/** As the options exchange asks it: once it answers, once it does not. */
async function askHook(guarded: GuardedNode): Promise<void> {
  const { odd, node, canaries, hook } = guarded
  const outbound = openHookOutbound(odd.context(), node.config)
  const url = `http://hook.test/eligible?key=${canaries.hookKey}`
  const isEligible = createAskEligibility(outbound, odd.context().log, url)
  if (!(await isEligible('0x1111111111111111111111111111111111111111', 'buy'))) throw new Error('the hook said no')
  hook.fail(true)
  await isEligible('0x1111111111111111111111111111111111111111', 'buy').catch((error: unknown) =>
    guarded.watch.saw('hook', String(error)),
  )
  if (!hook.asked.every((asked) => asked.includes(canaries.hookKey)))
    throw new Error('the hook was asked without its key')
}
