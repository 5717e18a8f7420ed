import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Shop, ShopContext } from '../../shop.ts'
import type { SourceDeps } from '../../sources/index.ts'
import type { MarketSettings } from '../settings.ts'
import { defaultFunding } from './deps.ts'
import { createFundingWork } from './run-funding.ts'

/** Citations are paid on Base, which seals a block every two seconds. */
const blockMs = 2_000

/** Who lives on whose money, where citations are paid. */
export function fundingJobs(
  context: ShopContext,
  sources: SourceDeps,
  settings: Pick<MarketSettings, 'funding' | 'attest'>,
  /** Contracts that pay creators. */
  distributors: readonly Address[],
): NonNullable<Shop['jobs']> {
  const { base, payees } = context
  const [chain, rpc] = [context.chains.get(base.caip2), context.rpcs.get(base.caip2)]
  if (!chain || !rpc) return []
  const work = createFundingWork({
    ...sources,
    chain,
    rpc,
    publicFunders: new Set<Address>([
      zeroAddress,
      ...Object.values(payees.pay_to),
      ...Object.values(payees.custody),
      ...distributors,
      ...settings.funding.publicFunders,
    ]),
    settings: {
      ...defaultFunding,
      lookBackBlocks: BigInt(Math.ceil(settings.funding.lookBackMs / blockMs)),
      challengeMs: settings.attest.challengeMs,
    },
  })
  const due = 'exists (select from attestation where checked_at is null)'
  return [{ name: 'citations.funding', intervalMs: context.mode === 'demo' ? 3_000 : 30_000, work, due }]
}
