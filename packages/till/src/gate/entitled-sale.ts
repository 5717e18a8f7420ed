import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Draw, PaidCall, PreparedAnswer, Sale } from '../contract/paid-call.ts'
import { Problem } from '../kernel/problem.ts'
import { encodeDraw } from '../schemes/encode-response.ts'
import type { GateDeps } from './gate-deps.ts'

/** Until a capture says otherwise no money moved for this call, so its sale is worth nothing; only the effect is committed. */
export function entitledSale(
  deps: GateDeps,
  call: PaidCall,
  account: Sale['payer'],
  callId: string,
  reservation: Sale['reservation'],
): Sale {
  return {
    paymentId: callId,
    routeId: call.route.id,
    network: call.route.networks[0] ?? '',
    payer: account,
    amountMicro: 0n,
    payee: call.route.payee,
    attribution: call.attribution,
    reservation,
    provisional: false,
    transaction: '',
    settledAtMs: deps.clock.nowMs(),
    feeMicro: 0n,
    round: 0,
    source: 'credit',
  }
}

export function drawResponse(account: Address, callId: string, draw: Draw): string {
  return encodeDraw({
    payer: checksumAddress(account),
    network: draw.network,
    amount: draw.amountMicro.toString(),
    call: callId,
    left: draw.leftMicro.toString(),
  })
}

/** Throws also when the caller left meanwhile: an answer that nobody can ask for again is not to be paid for. */
export async function prepareForCaller(call: PaidCall, account: Address, callId: string): Promise<PreparedAnswer> {
  const prepared = await call.prepare(account, callId)
  if (call.clientGone.aborted)
    throw new Problem('not_ready', { detail: 'The caller has left; nothing was taken.', retryAfterSeconds: 1 })
  return prepared
}
