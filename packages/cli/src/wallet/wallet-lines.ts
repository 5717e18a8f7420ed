import { networkTitle } from '../buy/describe.ts'

type Credit = { network: string; credit_usd: string; held_micro: string; bonded_micro: string }

/** The parts of what a node says about a wallet that people ask for first; everything is in --json. */
type Parts = {
  credit?: { credit?: readonly Credit[] }
  loyalty?: { tier?: string; points?: string | number; pending_points?: string | number; spent_usd?: string }
  affiliate?: { earned_micro?: string; payable_micro?: string }
  identity?: { didDocument?: { id?: string }; credit_rating?: { grade?: string } }
}

const dollars = (micro: string | undefined) => `${(Number(BigInt(micro ?? '0') / 10_000n) / 100).toFixed(2)} USD`

/** One line a part, amounts in dollars. A part that could not be had says why. */
export function nodeLines(node: Record<string, unknown>): string[] {
  return Object.entries(node).flatMap(([name, part]) => {
    const label = `  ${name.padEnd(10)} `
    const { problem } = part as { problem?: string }
    const texts = problem === undefined ? textsOf(name, { [name]: part }) : [problem]
    return texts.map((text) => `${label}${text}`)
  })
}

function textsOf(name: string, { credit, loyalty, affiliate, identity }: Parts): string[] {
  if (name === 'credit') return creditTexts(credit?.credit ?? [])
  if (name === 'loyalty')
    return [
      `${loyalty?.tier}, ${loyalty?.points} points (${loyalty?.pending_points} pending), ${loyalty?.spent_usd} USD spent`,
    ]
  if (name === 'affiliate')
    return [`earned ${dollars(affiliate?.earned_micro)}, payable ${dollars(affiliate?.payable_micro)}`]
  return [identity?.didDocument?.id ?? 'see --json']
}

function creditTexts(rows: readonly Credit[]): string[] {
  if (rows.length === 0) return ['none; `assay credit topup <usd>` adds some']
  return rows.map(({ network, credit_usd, held_micro, bonded_micro }) => {
    const aside = [
      ...(held_micro === '0' ? [] : [`${dollars(held_micro)} held`]),
      ...(bonded_micro === '0' ? [] : [`${dollars(bonded_micro)} bonded`]),
    ]
    return `${networkTitle(network).padEnd(22)}${credit_usd} USD${aside.length === 0 ? '' : `, ${aside.join(', ')}`}`
  })
}
