import type { Check } from './check.ts'
import { fail, ok } from './check.ts'
import { checkAnswers } from './endpoint-answers.ts'
import { checkOffer } from './endpoint-offer.ts'
import { gatherEndpoint } from './gather-endpoint.ts'

/** An x402 endpoint, seen from outside. Nothing is paid. */
export async function checkEndpoint(url: string, method: string | undefined): Promise<Check[]> {
  const seen = await gatherEndpoint(url, method).catch((error: unknown) => error as Error)
  if (seen instanceof Error) {
    const cause = (seen.cause as { code?: string } | undefined)?.code ?? seen.message
    return [fail('reachable', `no answer: ${cause}`, 'check the address; is the server running, and open to you?')]
  }
  return [
    ok('reachable', `${seen.method} answered ${seen.first.status}`),
    ...checkOffer(seen),
    ...(await checkAnswers(seen)),
  ]
}
