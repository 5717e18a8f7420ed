import { encodePayload } from '../harness/till-fixture.ts'
import { together } from '../harness/until.ts'
import { canary } from './canaries.ts'
import type { GuardedNode } from './guarded-node.ts'
import { exampleOf, type Visitor } from './visitor.ts'

/** Secrets where callers put theirs, in requests that are all refused. */
export async function sendBadInput(guarded: GuardedNode, visitor: Visitor): Promise<void> {
  const make = (name: string) => {
    const text = canary(name)
    guarded.watch.keep(`${name} of a caller`, text)
    return text
  }
  const routes = guarded.routes()
  const token = make('query-token')
  const bodies = [
    `{"private_key":"${make('body-key')}"}`,
    `{"signature":"${make('body-signature')}`,
    `[${make('body-text')}`,
  ]
  const proofs: Record<string, string>[] = [
    { authorization: `Bearer ${make('bearer')}`, cookie: `session=${make('cookie')}`, 'x-api-key': make('api-key') },
    { authorization: `Bearer asub_${make('subscription')}`, 'idempotency-key': make('idempotency-key') },
    { authorization: `Bearer apass_${make('pass')}`, 'proxy-authorization': `Basic ${make('proxy')}` },
    { 'sign-in-with-x': make('sign-in') },
    { 'sign-in-with-x': Buffer.from(JSON.stringify({ signature: make('sign-in-signature') })).toString('base64') },
    { 'payment-signature': make('payment') },
    { 'payment-signature': encodePayload({ x402Version: 2, payload: { signature: make('payment-signature') } }) },
    { 'x-payment': make('old-payment') },
    { signature: `eth=:${make('signature')}:`, 'signature-input': `eth=("@method");keyid="${make('key-id')}"` },
  ]
  await together(routes.length, 4, async (index) => {
    const route = routes[index] as (typeof routes)[number]
    const { url, init } = exampleOf(guarded.node.url, route)
    const headers = { ...(init.headers as Record<string, string>), ...proofs[index % proofs.length] }
    await visitor.ask(url, { ...init, headers })
    const named = `${url}${url.includes('?') ? '&' : '?'}access_token=${token}`
    const answer = await visitor.ask(named, { ...init, headers })
    // A price names the very address that it was asked at, to anyone who asked.
    if (answer.status === 402)
      for (const seen of [answer.seen, answer.seenHeaders])
        guarded.watch.reportFigures('query-token of a caller', token, seen)
    if (init.body !== undefined) await visitor.ask(url, { ...init, headers, body: bodies[index % bodies.length] ?? '' })
  })
  await visitor.ask(`${guarded.node.url}/nowhere/${make('path')}?api_key=${token}`)
}
