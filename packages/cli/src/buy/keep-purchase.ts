import type { AssayError } from '@assay/sdk'
import { CliError, exitCodes } from '../exit-codes.ts'
import { type PendingPurchase, savePurchase } from './purchase-file.ts'

/** What the client adds to an error while the outcome of a purchase is open. */
function pendingIn(error: unknown): PendingPurchase | undefined {
  const { details } = (error ?? {}) as { details?: Partial<PendingPurchase> }
  const { purchase, request, payer } = details ?? {}
  return purchase && request && payer ? { purchase, request, payer } : undefined
}

const advice: Partial<Record<string, string>> = {
  payment_outcome_unknown: 'Do not pay again: ask again',
  payment_not_taken: 'The node says that nothing was charged. Try again',
}

/**
 * Whichever command paid: a purchase whose outcome is open is saved, so that asking again costs nothing. A file that
 * it was resumed from is kept.
 */
export async function keepPurchase(error: unknown, savedIn?: string): Promise<unknown> {
  const pending = pendingIn(error)
  if (pending === undefined) return error
  const { code, message, details } = error as AssayError
  const path = savedIn ?? (await savePurchase(pending))
  const { statusUrl } = details as { statusUrl?: string }
  const unknown = code === 'payment_outcome_unknown'
  return new CliError(unknown ? exitCodes.outcomeUnknown : exitCodes.failed, code, message, {
    hint:
      `${advice[code] ?? 'It may have been paid for: ask again'} with` +
      `\n    assay resume ${path}` +
      (statusUrl === undefined ? '' : `\n  or look at its state: ${statusUrl}`),
    details: { resume_file: path, ...(statusUrl === undefined ? {} : { status_url: statusUrl }) },
    cause: error,
  })
}
