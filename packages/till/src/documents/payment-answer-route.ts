import type { ProvenAccount } from '@assay/protocol/account'
import { chainOfAsset } from '@assay/protocol/asset'
import { z } from 'zod'
import type { AnswerContent, PaidRoute } from '../contract/paid-call.ts'
import type { PaymentRecord } from '../contract/payment-record.ts'
import { findPayment, readAnswer } from '../gate/store-advance.ts'
import { publicIdPattern } from '../kernel/ids.ts'
import { Problem } from '../kernel/problem.ts'
import { type RequestProofDeps, verifySignedRequest } from '../proofs/index.ts'
import type { CallContext, RouteDeclaration } from '../selling/index.ts'
import type { Sql } from '../store/database.ts'

export type PaymentAnswerDeps = {
  sql: Sql
  proofs: RequestProofDeps
  routeOf(id: string): PaidRoute | undefined
}

/**
 * Returns a lost answer to its payer, who proves to be the payer by a signature. Some platforms do not tell the till
 * whether an answer arrived, and there it is the only way to get it again.
 */
export function paymentAnswerRoute(deps: PaymentAnswerDeps, path: string): RouteDeclaration {
  return {
    id: 'payments.answer',
    method: 'GET',
    path,
    summary: 'The answer that a payment bought, again, for its payer',
    description: 'Signed (ERC-8128) by the wallet that paid. Nothing is charged.',
    params: z.strictObject({ id: z.string() }),
    representations: ['*/*'],
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const { id } = input.params as { id: string }
        const payment = publicIdPattern.test(id) ? await findPayment(deps.sql, id) : undefined
        if (!payment) throw noSuchPayment()
        await requirePayer(deps.proofs, payment, call)
        return replaySale(deps, payment)
      },
    },
  }
}

async function requirePayer(proofs: RequestProofDeps, payment: PaymentRecord, call: CallContext): Promise<void> {
  const account = await verifySignedRequest(
    {
      ...proofs,
      // A contract is asked only where it may be the payer: a stranger makes no calls to the chain.
      checkContractSignature: async (question) =>
        isPayer({ ...question, kind: 'contract' }, payment) ? proofs.checkContractSignature(question) : 'invalid',
    },
    { method: call.method, ...call.received, headers: call.headers, rawBody: call.rawBody },
  )
  if (!isPayer(account, payment)) throw noSuchPayment()
}

/** A contract wallet may belong to somebody else on another chain. */
function isPayer({ address, chainId, kind }: ProvenAccount, { payer, network }: PaymentRecord): boolean {
  return address === payer && (kind === 'key' || chainOfAsset(network) === `eip155:${chainId}`)
}

const noSuchPayment = () => new Problem('not_found', { detail: 'This wallet made no such payment.' })

async function replaySale({ sql, routeOf }: PaymentAnswerDeps, payment: PaymentRecord): Promise<AnswerContent> {
  const { state } = payment
  if (state === 'failed' || state === 'released')
    throw new Problem('not_found', { detail: 'Nothing was charged for this payment, so it has no answer.' })
  if (state === 'credited') throw new Problem('payment_credited')
  if (state === 'refunded') throw new Problem('payment_used', { detail: 'It was refunded.' })
  if (state !== 'served')
    throw new Problem('settlement_unknown', { detail: 'The answer is released once it is paid.', retryAfterSeconds: 3 })
  const stored = await readAnswer(sql, payment.id)
  if (!stored) throw new Problem('payment_used', { detail: 'Its answer is no longer kept.' })
  const { reservation: _kept, paymentResponse, ...answer } = stored
  const released = (await routeOf(payment.routeId)?.release?.(answer, paymentResponse ?? '')) ?? answer
  return { ...released, ...(paymentResponse === null ? {} : { paymentResponse }) }
}
