import { checksumAddress } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { noSupplyCap } from './abi/b20.ts'
import type { Checked } from './checker.ts'
import { powerNames, type Verdict } from './evaluate/types.ts'
import {
  show,
  showBlock,
  showCompleteness,
  showFork,
  showNumber,
  showPower,
  showReading,
  showText,
  showUnreachable,
  validUntil,
} from './show.ts'

export const verdictSentences: Record<Verdict, string> = {
  LOCKED: 'Nobody controls this token any more.',
  PARTIALLY_CONTROLLED: 'Nobody can act as admin, but some power over the token and its holders is left.',
  ISSUER_CONTROLLED: 'An admin can change the rules of this token at any time.',
  UNKNOWN: 'Not enough could be read or proven to say who controls this token.',
}

export type AnswerOptions = { network: string; synthetic: boolean; reportUrl: string; reportPriceUsd: string }

/** The free answer: verdict, powers and flags, with where and how completely they were read. */
export function checkAnswer(checked: Checked, options: AnswerOptions) {
  const { facts, evaluation } = checked
  return {
    address: checksumAddress(facts.token),
    network: options.network,
    ...(options.synthetic ? { synthetic: true } : {}),
    verdict: evaluation.verdict,
    summary: verdictSentences[evaluation.verdict],
    complete: evaluation.complete,
    token: showToken(checked),
    powers: Object.fromEntries(powerNames.map((name) => [name, showPower(facts, evaluation.powers[name])])),
    flags: evaluation.flags,
    unreachable: showUnreachable(checked),
    block: showBlock(facts.block),
    fork: showFork(facts),
    completeness: showCompleteness(checked),
    valid_until_at: toRfc3339(validUntil(facts) * 1000),
    reading: showReading(checked),
    report: { url: options.reportUrl, price_usd: options.reportPriceUsd },
  }
}

export function showToken({ facts }: Checked) {
  return {
    name: showText(facts.name),
    symbol: showText(facts.symbol),
    decimals: show(facts.decimals, (value) => value),
    variant: facts.variant === 'unsupported' ? `variant ${facts.variantByte}` : facts.variant,
    total_supply: showNumber(facts.totalSupply),
    supply_cap: show(facts.supplyCap, (cap) => (cap === noSupplyCap ? 'none' : cap.toString())),
  }
}
