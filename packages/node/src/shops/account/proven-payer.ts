import type { Address } from '@assay/protocol/address'
import { verifySignedRequest } from '@assay/till/proofs'
import type { CallContext, ShopContext } from '../../http/index.ts'

export type PayerDeps = Pick<ShopContext, 'proofs' | 'networks'>

/** The wallet that signed this request, and where it is itself: a contract wallet may belong to somebody else on another chain. */
export async function provenPayer(
  { proofs, networks }: PayerDeps,
  call: CallContext,
): Promise<{ address: Address; networks: string[] }> {
  const caller = await verifySignedRequest(proofs, {
    method: call.method,
    ...call.received,
    headers: call.headers,
    rawBody: call.rawBody,
  })
  const own = networks.filter(({ chainId }) => caller.kind === 'key' || chainId === caller.chainId)
  return { address: caller.address, networks: own.map(({ caip2 }) => caip2) }
}
