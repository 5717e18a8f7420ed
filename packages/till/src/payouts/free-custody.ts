import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { ChainPort } from '../chain/index.ts'
import type { Sql } from '../store/database.ts'
import { type CustodyFacts, certainMicro, readCustodyFacts, readFinalBalance, spareMicro } from './custody-money.ts'
import type { Payout } from './payout-record.ts'
import { operatorPurposes, withdrawalPurpose } from './purposes.ts'

export type CustodyMoney = {
  /** True when this payout can be paid beside what was taken before. */
  take(payout: Pick<Payout, 'purpose' | 'amountMicro'>): boolean
}

/**
 * What the custody wallet can pay: its balance at a final block, less what is signed and not yet final. What it holds
 * for others can be used for their own payouts only; the rest, put there by the operator, pays the operator's debts, and
 * what no debt needs can be withdrawn.
 */
export async function freeCustody(
  sql: Sql,
  chain: ChainPort,
  custody: Address,
  committedMicro: (network: string) => Promise<Micro> = async () => 0n,
): Promise<CustodyMoney> {
  const balance = await readFinalBalance(chain, custody)
  const own = await operatorPurposes(sql)
  return moneyOf(await readCustodyFacts(sql, balance, await committedMicro(balance.network)), own)
}

/** Decides one payout after the other, each beside those that were taken before. */
export function moneyOf(read: CustodyFacts, own: ReadonlySet<string>): CustodyMoney {
  const facts = { ...read }
  const isThere = (purpose: string, amountMicro: Micro): boolean => {
    if (!own.has(purpose)) return amountMicro <= facts.balanceMicro - facts.signedMicro
    // It is queued, so its own amount is among the claims.
    if (purpose === withdrawalPurpose) return spareMicro(facts) >= 0n
    return amountMicro <= certainMicro(facts) - facts.othersMicro - facts.queuedOthersMicro
  }
  return {
    take: ({ purpose, amountMicro }) => {
      if (!isThere(purpose, amountMicro)) return false
      facts.signedMicro += amountMicro
      facts.unpaidMicro += amountMicro
      if (own.has(purpose)) facts.queuedOwnMicro -= amountMicro
      else facts.queuedOthersMicro -= amountMicro
      return true
    },
  }
}
