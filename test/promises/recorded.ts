import { lineOf, type Origin, originLines } from '../../bench/record.ts'
import { type Row, rows, type Size } from './rows.ts'

/** What the last run of a promise at one size showed. */
export type Seen = Origin & { held: boolean; seen: readonly string[] }
export type Recorded = Partial<Record<Size, Seen>>

/** The table of docs/promises.md: what was seen at the size that is asked for; where there is none, a smaller run is shown as such. */
export function tableOf(recorded: Record<string, Recorded>): string {
  const shown = rows.map((row) => ({ row, ...recorded[row.name] }))
  const known = shown.flatMap(({ row, asked, test }) =>
    [asked ?? test ?? []].flat().map((seen) => ({ ...seen, name: row.name })),
  )
  return [
    ...originLines(known),
    '',
    '| promise | shown by | asked | seen | run at |',
    '|---|---|---|---|---|',
    ...shown.map(({ row, asked, test }) =>
      lineOf([row.promise, shownBy(row), row.asked, seenCell(asked, test), runCell(asked, test)]),
    ),
  ].join('\n')
}

function seenCell(asked: Seen | undefined, small: Seen | undefined): string {
  const seen = asked ?? small
  if (!seen) return 'not recorded'
  return `${asked ? '' : 'small: '}${seen.held ? '' : '**not reached**: '}${seen.seen.join('; ')}`
}

function runCell(asked: Seen | undefined, small: Seen | undefined): string {
  if (!asked || !small) return (asked ?? small)?.at ?? ''
  const commit = small.commit === undefined ? '' : ` \`${small.commit}\``
  return `${asked.at ?? ''} (small: ${small.at}${commit}${small.held ? '' : ', **not reached**'})`.trim()
}

function shownBy({ name, also, onlyNamed }: Row): string {
  const others = also === undefined ? '' : `; also ${also}`
  return `\`npm run promises -- --only ${name}\`${others}${onlyNamed === undefined ? '' : ` (only when named: ${onlyNamed})`}`
}
