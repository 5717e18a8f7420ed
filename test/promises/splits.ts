import { bpsWhole, microMax, shareOf, splitEqually, splitShare } from '../../packages/protocol/src/money.ts'
import { createDice, createFaults, createProgress, type Proof, plain } from './proof.ts'

const tollBps = 1_000n
const affiliateBps = 1_500n
const royaltyBps = 250n

/** No money made or lost by splitting: every amount from 0 on, and as many at random up to the largest there is. */
export const proveSplits: Proof = async ({ count, say }) => {
  const faults = createFaults()
  const dice = createDice(1)
  const progress = createProgress(say, count, 'amounts', 2_000)
  const half = Math.ceil(count / 2)
  let sums = 0n
  for (let index = 0; index < count; index += 1) {
    const gross = index < half ? BigInt(index) : anyAmount(dice.roll(), dice.roll())
    const wrong = splitAll(gross, BigInt(dice.below(Number(bpsWhole) + 1)), 1 + dice.below(12))
    if (wrong) faults.note(`${gross}: ${wrong}`)
    sums += gross
    if (index % 65_536 === 0) progress(index)
  }
  return {
    seen: `difference 0 in ${plain(count)} amounts, ${sums} micro split five ways: ${faults.count()} wrong`,
    faults: faults.all(),
  }
}

const anyAmount = (size: number, within: number): bigint =>
  BigInt(Math.floor(within * 2 ** Math.floor(size * 50))) * (size > 0.9 ? microMax / 2n ** 50n : 1n)

/** In words, what is wrong; nothing when all shares sum to the whole and nobody gets less than nothing. */
function splitAll(gross: bigint, bps: bigint, payees: number): string | undefined {
  const any = splitShare(gross, bps)
  if (any.share + any.rest !== gross || any.share < 0n || any.rest < 0n) return `${bps} bps`
  // As an attestation is shared out: the platform's part floors, the creator takes the rest, and the affiliate who
  // referred the buyer gets a part of the platform's share, never of the creator's.
  const toll = splitShare(gross, tollBps)
  const brought = splitShare(toll.share, affiliateBps)
  if (toll.rest + brought.share + brought.rest !== gross) return 'creator, platform and affiliate'
  if (toll.share * bpsWhole > gross * tollBps || brought.rest < 0n) return 'a part above its rate'
  const royalty = shareOf(gross, royaltyBps)
  if (royalty * bpsWhole > gross * royaltyBps || (royalty + 1n) * bpsWhole <= gross * royaltyBps) return 'royalty'
  const parts = splitEqually(gross, payees)
  let sum = 0n
  for (const part of parts) {
    if (part < 0n) return `${payees} payees, one below nothing`
    sum += part
  }
  return sum === gross ? undefined : `${payees} payees`
}
