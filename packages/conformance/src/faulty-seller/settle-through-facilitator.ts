import type { Facilitator } from '@assay/till'
import type { Address, Hex } from 'viem'

/**
 * Authorizations and permits are settled by the test facilitator, so that its faults can be planned for every scheme at one
 * place. The wallet of the till itself is for its channels.
 */
export const settleThroughFacilitator =
  (url: string, settler: Address) =>
  (real: Facilitator): Facilitator => ({
    ...real,
    carries: () => true,
    settlersOf: (...asked) => ({ extensions: [], ...real.settlersOf?.(...asked), wallets: [settler] }),
    settle: (payment, signal) => post(url, payment, signal),
  })

type Settle = Facilitator['settle']

async function post(url: string, payment: Parameters<Settle>[0], signal: AbortSignal): ReturnType<Settle> {
  const { scheme, network, asset, payTo, amountMicro, maxTimeoutSeconds, extra } = payment
  const requirements = { scheme, network, asset, payTo, amount: amountMicro.toString(), maxTimeoutSeconds, extra }
  const response = await fetch(`${url}/settle`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      paymentPayload: { x402Version: 2, accepted: requirements, payload: payment.payload() },
      paymentRequirements: requirements,
    }),
    signal,
  })
  if (!response.ok) return { status: 'unknown', reason: `HTTP ${response.status}` }
  const answer = (await response.json()) as { success: boolean; transaction: Hex; errorReason?: string }
  if (answer.success) return { status: 'submitted', transaction: answer.transaction, feeMicro: 0n }
  const reason = answer.errorReason ?? 'unexpected_settle_error'
  return reason === 'settlement_pending'
    ? { status: 'unknown', reason }
    : { status: 'refused', reason, payloadSent: true }
}
