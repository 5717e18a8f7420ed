import { type Hex, isHex } from '@assay/protocol/bytes'
import { parseJsonObject } from '@assay/protocol/json-object'
import type { VerifyOutcome } from '../../contract/facilitator.ts'
import { isScreening } from '../refusal-causes.ts'
import { isDefiniteRefusal } from './error-codes.ts'
import type { HttpExchangeResult } from './http-exchange.ts'

/** What an answer to `settle` proves. The fee is not in it: that is a matter of the contract with the facilitator. */
export type SettleAnswer =
  | { status: 'submitted'; transaction: Hex }
  | { status: 'refused'; reason: string; payloadSent: boolean; message?: string }
  | { status: 'unknown'; reason: string; transaction?: Hex }

type Fields = Record<string, unknown>

const unauthorized = {
  status: 'refused',
  reason: 'facilitator_unauthorized',
  payloadSent: true,
  message: 'The facilitator does not accept our key.',
} as const
const unreachable = {
  status: 'refused',
  reason: 'facilitator_unreachable',
  payloadSent: false,
  message: 'The facilitator cannot be reached; nothing was sent.',
} as const

/** Success needs a hash, refusal needs a known reason and no hash; everything else is unknown and for the chain to tell. */
export function classifySettle(result: HttpExchangeResult): SettleAnswer {
  if (result.status === 'not_sent') return unreachable
  if (result.status === 'no_answer') return { status: 'unknown', reason: result.reason }
  const { code } = result
  if (code === 401 || code === 403) return unauthorized
  const fields = parseJsonObject(result.body)
  const transaction = hashIn(fields)
  const withHash = transaction === undefined ? {} : { transaction }
  if (isInconclusive(code)) return { status: 'unknown', reason: reasonIn(fields) ?? `HTTP ${code}`, ...withHash }
  if (!fields) return { status: 'unknown', reason: 'the answer is not a JSON object' }
  if (isSuccessCode(code) && fields.success === true)
    return transaction
      ? { status: 'submitted', transaction }
      : { status: 'unknown', reason: 'success without a transaction' }
  const reason = reasonIn(fields) ?? 'no reason'
  // The API around a facilitator refuses without the word `success`; a success or a hash in a refusal is a contradiction.
  const refuses = fields.success === false || (fields.success === undefined && !isSuccessCode(code))
  const names = fields.transaction !== undefined && fields.transaction !== null && fields.transaction !== ''
  if (refuses && !names && (isDefiniteRefusal(reason) || isScreening(reason)))
    return { status: 'refused', reason, payloadSent: true, ...messageIn(fields) }
  return { status: 'unknown', reason, ...withHash }
}

export function classifyVerify(result: HttpExchangeResult): VerifyOutcome {
  if (result.status !== 'answered') return { status: 'could_not_check', reason: result.reason }
  const { code } = result
  if (code === 401 || code === 403) return { status: 'could_not_check', reason: 'facilitator_unauthorized' }
  const fields = parseJsonObject(result.body)
  if (isInconclusive(code) || !fields) return { status: 'could_not_check', reason: reasonIn(fields) ?? `HTTP ${code}` }
  if (isSuccessCode(code) && fields.isValid === true) return { status: 'valid' }
  const reason = reasonIn(fields) ?? 'no reason'
  if (fields.isValid !== true && isDefiniteRefusal(reason)) return { status: 'invalid', reason, ...messageIn(fields) }
  return { status: 'could_not_check', reason }
}

const isSuccessCode = (code: number) => code >= 200 && code < 300
/** Redirects included: a server that redirects has not refused the payment. */
const isInconclusive = (code: number) =>
  code < 200 || (code >= 300 && code < 400) || code === 408 || code === 429 || code >= 500

const hashIn = (fields: Fields | undefined): Hex | undefined =>
  isHex(fields?.transaction, 32) ? (fields.transaction.toLowerCase() as Hex) : undefined

/** Machine words only: what a stranger writes here ends up in answers, logs and metrics. */
function reasonIn(fields: Fields | undefined): string | undefined {
  for (const name of ['errorReason', 'invalidReason', 'errorType', 'error']) {
    const value = fields?.[name]
    if (typeof value === 'string' && /^[A-Za-z0-9_.:-]{1,80}$/.test(value)) return value
  }
  return undefined
}

function messageIn(fields: Fields): { message?: string } {
  for (const name of ['errorMessage', 'invalidMessage', 'message']) {
    const value = fields[name]
    if (typeof value === 'string' && value !== '') return { message: value.replace(/[^\x20-\x7e]/g, '?').slice(0, 200) }
  }
  return {}
}
