import {
  type FacilitatorCaller,
  type FacilitatorRequest,
  type FacilitatorServiceDeps,
  facilitatorRequestSchema,
  facilitatorSettleAnswerSchema,
  facilitatorSupportedSchema,
  facilitatorVerifyAnswerSchema,
  settleForOthers,
  supportedForOthers,
  verifyForOthers,
} from '@assay/till/facilitators'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'

const address = '0x1111111111111111111111111111111111111111'
const terms = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: address,
  payTo: address,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
}
const exampleBody = {
  x402Version: 2,
  paymentPayload: {
    x402Version: 2,
    accepted: terms,
    payload: {
      signature: `0x${'00'.repeat(65)}`,
      authorization: {
        from: address,
        to: address,
        value: '1000',
        validAfter: '0',
        validBefore: '1900000000',
        nonce: `0x${'00'.repeat(32)}`,
      },
    },
  },
  paymentRequirements: terms,
}

const callerOf = (call: CallContext): FacilitatorCaller => ({
  authorization: call.headers.get('authorization'),
  remoteAddress: call.remoteAddress,
  signal: call.signal,
})

/** Our own facilitator, opened to others by the operator's token. Its shapes are those of x402, not ours. */
export function facilitatorRoutes(deps: FacilitatorServiceDeps): RouteDeclaration[] {
  const common = { area: 'core' as const, body: facilitatorRequestSchema, next: '/facilitator/supported' }
  return [
    defineRoute({
      ...common,
      id: 'facilitator.verify',
      method: 'POST',
      path: '/facilitator/verify',
      summary: 'Check a payment without moving it (x402 facilitator)',
      output: facilitatorVerifyAnswerSchema,
      example: { body: exampleBody, output: { isValid: true, payer: address } },
      access: {
        kind: 'free',
        security: 'bearer',
        handle: async (input, call) =>
          jsonAnswer(await verifyForOthers(deps, callerOf(call), input.body as FacilitatorRequest)),
      },
    }),
    defineRoute({
      ...common,
      id: 'facilitator.settle',
      method: 'POST',
      path: '/facilitator/settle',
      summary: 'Settle a payment on chain with our own wallet (x402 facilitator)',
      output: facilitatorSettleAnswerSchema,
      example: {
        body: exampleBody,
        output: {
          success: true,
          payer: address,
          transaction: `0x${'00'.repeat(32)}`,
          network: 'eip155:8453',
          amount: '1000',
        },
      },
      access: {
        kind: 'free',
        security: 'bearer',
        handle: async (input, call) =>
          jsonAnswer(await settleForOthers(deps, callerOf(call), input.body as FacilitatorRequest)),
      },
    }),
    defineRoute({
      id: 'facilitator.supported',
      area: 'core',
      method: 'GET',
      path: '/facilitator/supported',
      summary: 'Schemes and networks this facilitator settles',
      output: facilitatorSupportedSchema,
      example: {
        output: {
          kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
          extensions: [],
          signers: { 'eip155:*': [address] },
        },
      },
      next: '/facilitator/verify',
      access: { kind: 'free', handle: async (_input, call) => jsonAnswer(await supportedForOthers(deps, call.signal)) },
    }),
  ]
}
