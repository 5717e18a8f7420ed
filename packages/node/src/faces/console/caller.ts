import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import { verifySignedRequest } from '@assay/till/proofs'
import type { CallContext, ShopContext } from '../../http/index.ts'

export type CallerDeps = Pick<ShopContext, 'proofs' | 'base'> & { operators: readonly Address[] }

/** The wallet that signed this very request. */
export function provenCaller({ proofs }: Pick<CallerDeps, 'proofs'>, call: CallContext): Promise<ProvenAccount> {
  return verifySignedRequest(proofs, {
    method: call.method,
    ...call.received,
    headers: call.headers,
    rawBody: call.rawBody,
  })
}

/** Who the operator is comes from configuration alone. A contract wallet counts on Base only: elsewhere it may have other owners. */
export async function requireOperator(deps: CallerDeps, call: CallContext): Promise<Address> {
  const caller = await provenCaller(deps, call)
  const known = deps.operators.includes(caller.address)
  if (!known || (caller.kind === 'contract' && caller.chainId !== deps.base.chainId))
    throw new Problem('forbidden', {
      detail: 'This wallet does not operate the node.',
      hint: 'Sign with a wallet named in OPERATORS.',
    })
  return caller.address
}
