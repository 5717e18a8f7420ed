import type { OptionDeps } from './deps.ts'

/**
 * SQL that is true when all money that `wallet` had paid in by `since` can no longer be reversed by the chain. What was
 * drawn from credit is as final as the payments behind the credit. `$1` and `$2` are network and asset.
 */
export const moneyIsFinal = (wallet: string, since: string): string => `not exists (
  select from payment p where p.network = $1 and p.asset = $2 and p.payer = ${wallet} and p.open_to_payer and not p.final
    and p.state in ('settled', 'served', 'credited') and p.claimed_at <= ${since})`

export const finalValues = ({ network, usdc }: Pick<OptionDeps, 'network' | 'usdc'>): [string, string] => [
  network,
  usdc,
]
