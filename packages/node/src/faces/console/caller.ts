import type { ProvenAccount } from '@assay/protocol/account'
import type { Address } from '@assay/protocol/address'
import { includesRole, type OperatorRole } from '@assay/protocol/operator-role'
import { Problem } from '@assay/till/kernel/problem'
import { verifySignedRequest } from '@assay/till/proofs'
import { writeAudit } from '@assay/till/store/audit-log'
import type { CallContext } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'

export type Operator = { address: Address; role: OperatorRole }
export type CallerDeps = Pick<ShopContext, 'proofs' | 'base' | 'database'> & { operators: readonly Operator[] }

/** The wallet that signed this request. */
export function provenCaller({ proofs }: Pick<CallerDeps, 'proofs'>, call: CallContext): Promise<ProvenAccount> {
  return verifySignedRequest(proofs, {
    method: call.method,
    ...call.received,
    headers: call.headers,
    rawBody: call.rawBody,
  })
}

/** Who the operator is comes from configuration alone. A contract wallet counts on Base only: elsewhere it may have other owners. */
export async function requireOperator(deps: CallerDeps, call: CallContext, needed: OperatorRole): Promise<Operator> {
  const caller = await provenCaller(deps, call)
  const known = deps.operators.find(({ address }) => address === caller.address)
  if (known === undefined || (caller.kind === 'contract' && caller.chainId !== deps.base.chainId))
    throw new Problem('forbidden', {
      detail: 'This wallet does not operate the node.',
      hint: 'Sign with a wallet named in OPERATORS.',
    })
  if (includesRole(known.role, needed)) return known
  const { address, role } = known
  await deps.database.transaction((tx) =>
    writeAudit(tx, {
      actor: `operator ${address}`,
      action: 'refused',
      subject: call.received.path,
      details: { role, needed },
    }),
  )
  throw new Problem('forbidden', {
    detail: `This wallet has the role ${role}, and ${needed} is needed.`,
    hint: 'Sign with a wallet that OPERATORS gives this role.',
  })
}
