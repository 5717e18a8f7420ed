import type { PaidCall } from '@assay/till'
import { type CreditCaller, mandateHeader, namedMandate } from '@assay/till/internal'
import { type ProofDeps, verifySignedRequest } from '@assay/till/proofs'

/**
 * Who signed a paid request. The nonce is not claimed here but with the money, in one write: a request that could not be
 * held for want of a database may be sent again as it is.
 */
export async function provenCaller(proofs: ProofDeps, call: PaidCall): Promise<CreditCaller> {
  const { method, received, headers, rawBody } = call
  let nonce: CreditCaller['nonce'] | undefined
  const proven = await verifySignedRequest(
    {
      ...proofs,
      claimNonce: async ({ key, expiresAtMs }) => {
        nonce = { key, expiresAtMs }
        return true
      },
    },
    { method, ...received, headers, rawBody },
    // The mandate decides whose money it is.
    namedMandate(headers) === undefined ? [] : [mandateHeader],
  )
  if (nonce === undefined) throw new Error('a request was proven without its nonce')
  return { ...proven, nonce }
}
