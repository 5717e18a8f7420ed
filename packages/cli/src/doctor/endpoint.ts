import type { Check } from './check.ts'
import { fail, ok } from './check.ts'
import { checkAnswers } from './endpoint-answers.ts'
import { checkOffer } from './endpoint-offer.ts'
import { paidRouteIn } from './find-paid-route.ts'
import { gatherEndpoint, type Seen } from './gather-endpoint.ts'

/** An x402 endpoint, seen from outside. Nothing is paid. */
export async function checkEndpoint(url: string, method: string | undefined): Promise<Check[]> {
  const seen = await gatherEndpoint(url, method).catch((error: unknown) => error as Error)
  if (seen instanceof Error) {
    const cause = (seen.cause as { code?: string } | undefined)?.code ?? seen.message
    return [fail('reachable', `no answer: ${cause}`, 'check the address; is the server running, and open to you?')]
  }
  const sold = method === undefined ? soldInstead(seen) : undefined
  if (sold === undefined) return examine(seen)
  const { url: soldUrl, method: soldMethod, from, others } = sold
  const which = `${from} names ${others + 1} paid route${others === 0 ? '' : 's'}; looking at ${soldMethod} ${soldUrl}`
  return [ok('address', which), ...(await checkEndpoint(soldUrl, soldMethod))]
}

/** An address that sells nothing itself, but whose documents say what is sold there. */
function soldInstead({ url, first, openapi, manifest }: Seen) {
  const { origin, pathname } = new URL(url)
  return pathname === '/' && first.status !== 402 ? paidRouteIn(origin, { openapi, manifest }) : undefined
}

async function examine(seen: Seen): Promise<Check[]> {
  return [
    ok('reachable', `${seen.method} answered ${seen.first.status}`),
    ...checkOffer(seen),
    ...(await checkAnswers(seen)),
  ]
}
