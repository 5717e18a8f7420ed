import { targets } from '../../scripts/mutation/targets.mjs'
import { lineOf, type Origin, updateRecord } from '../record.ts'

export type Tally = { mutants: number; noticed: number; survived: number; unreached: number }
export type MutatedTarget = Partial<Origin> & Tally

export const rateAsked = 85

export const rateOf = ({ mutants, noticed }: Tally): number => (mutants === 0 ? 0 : (100 * noticed) / mutants)

export const recordTarget = (name: string, target: MutatedTarget): void =>
  updateRecord<MutatedTarget>(
    'mutation',
    (recorded) => {
      recorded[name] = target
    },
    (recorded) => [tableOf(recorded)],
  )

/** The table of docs/mutation.md. */
export function tableOf(recorded: Record<string, MutatedTarget>): string {
  const lines = targets.flatMap(({ name }) => {
    const target = recorded[name]
    if (target === undefined) return []
    const { mutants, noticed, survived, unreached, at = '', commit = '' } = target
    const counts = [mutants, noticed, survived, unreached].map((count) => count.toLocaleString('en-US'))
    return [lineOf([name, ...counts, `${rateOf(target).toFixed(1)} %`, `${rateAsked} %`, at, commit])]
  })
  return [
    '| target | mutants | noticed | survived | never reached | rate | asked | run at | commit |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}
