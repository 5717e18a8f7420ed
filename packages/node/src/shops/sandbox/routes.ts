import { type Address, checksumAddress } from '@assay/protocol/address'
import type { PreparedAnswer } from '@assay/till/internal'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'

const sandboxPriceMicro = 1_000n

/** What a metered answer costs at most, and for each character that it counts. */
const meterMaxMicro = 20_000n
const meterEachMicro = 100n

const message = z.string().max(1_000).optional().describe('Any text; it comes back in the answer.')
const output = z.strictObject({
  echo: z.string().describe('The text that was sent, empty without one.'),
  paid_by: z.string().describe('The wallet whose payment or entitlement this answer used.'),
  payment_id: z.string().describe('Follow it at /v1/payments/{id}.'),
  at: z.string().describe('When the answer was made, RFC 3339.'),
})
const example = {
  echo: 'hello',
  paid_by: '0x1111111111111111111111111111111111111111',
  payment_id: 'pay_06d1z8k4q2v7e9m3x5c0w8r2t4',
  at: '2026-01-01T00:00:00.000Z',
}

/** A paid route where any buyer can try a client: it gives back what it got. */
export function sandboxRoutes(deps: { clock: Clock; networks: readonly string[] }): RouteDeclaration[] {
  const access = (
    textOf: (input: { query: { message?: string }; body: { message?: string } }) => string | undefined,
  ) => ({
    kind: 'paid' as const,
    price: { kind: 'fixed' as const, micro: sandboxPriceMicro },
    networks: deps.networks,
    payee: 'pay_to' as const,
    revocable: false,
    prepare: async (
      input: { query: { message?: string }; body: { message?: string } },
      call: CallContext & { payer: Address; paymentId: string },
    ): Promise<PreparedAnswer> => ({
      answer: {
        status: 200,
        contentType: 'application/json',
        body: JSON.stringify({
          echo: textOf(input) ?? '',
          paid_by: checksumAddress(call.payer),
          payment_id: call.paymentId,
          at: toRfc3339(deps.clock.nowMs()),
        }),
      },
    }),
  })
  const common = {
    area: 'core' as const,
    testPurchase: true,
    path: '/v1/sandbox/echo',
    output,
    next: '/openapi.json',
    description:
      'Pay a tenth of a cent on either chain and get your text back, to try an x402 client against real settlement.',
  }
  return [
    meterRoute(deps.networks.slice(0, 1)),
    defineRoute({
      ...common,
      id: 'sandbox.echo.get',
      capability: 'sandbox.echo',
      method: 'GET',
      summary: 'Echo a text, to try paying',
      query: z.strictObject({ message }),
      example: { query: { message: 'hello' }, output: example },
      access: access((input) => input.query.message),
    }),
    defineRoute({
      ...common,
      id: 'sandbox.echo.post',
      capability: 'sandbox.echo',
      method: 'POST',
      summary: 'Echo a JSON message, to try paying for a request with a body',
      body: z.strictObject({ message }),
      example: { body: { message: 'hello' }, output: example },
      access: access((input) => input.body.message),
    }),
  ]
}

/** A price that is known after the answer: for clients that agree to a maximum and pay what was used. */
function meterRoute(networks: readonly string[]): RouteDeclaration {
  return defineRoute({
    id: 'sandbox.meter',
    capability: 'sandbox.meter',
    area: 'core' as const,
    testPurchase: true,
    method: 'GET',
    path: '/v1/sandbox/meter',
    summary: 'Count characters, to try paying for what was used',
    description:
      'Quotes 0.02 USD and charges 0.0001 USD for each character, nothing without a text, to buyers who pay by the scheme upto. Others pay the quote.',
    query: z.strictObject({ text: z.string().max(200).optional().describe('What is counted.') }),
    output: z.strictObject({
      characters: z.int().describe('How many characters were counted.'),
      charge_micro: z.string().describe('What they cost, in micro-USDC.'),
    }),
    example: { query: { text: 'hello' }, output: { characters: 5, charge_micro: '500' } },
    next: '/v1/sandbox/echo',
    access: {
      kind: 'paid',
      price: { kind: 'fixed', micro: meterMaxMicro, metered: true },
      networks,
      payee: 'pay_to',
      revocable: false,
      prepare: async ({ query }: { query: { text?: string } }): Promise<PreparedAnswer> => {
        const characters = [...(query.text ?? '')].length
        const chargeMicro = BigInt(characters) * meterEachMicro
        return {
          answer: jsonAnswer({ characters, charge_micro: chargeMicro.toString() }),
          chargeMicro,
        }
      },
    },
  })
}
