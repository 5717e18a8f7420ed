import { targets } from './targets.mjs'

export const rateAsked = 85

/** A mutant that never ends counts as noticed. */
export const rateOf = ({ mutants, noticed }) => (mutants === 0 ? 0 : (100 * noticed) / mutants)

/** The table of docs/mutation.md. */
export function mutationTable(recorded) {
  const rows = targets.flatMap(({ name }) => {
    const run = recorded[name]
    if (run === undefined) return []
    const { mutants, noticed, survived, unreached, at, commit } = run
    return [[name, mutants, noticed, survived, unreached, `${rateOf(run).toFixed(1)} %`, at ?? '', commit ?? '']]
  })
  const head = ['target', 'mutants', 'noticed', 'survived', 'never reached', 'rate', 'run at', 'commit']
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
