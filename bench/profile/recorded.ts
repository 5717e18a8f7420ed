import { lineOf, type Origin, originLines, updateRecord } from '../record.ts'
import { hotPaths } from './paths.ts'
import type { Share } from './where.ts'

export type ProfiledPath = Origin & { shares: readonly Pick<Share, 'what' | 'share'>[] }

/** Smaller shares are left out of the table. */
const shareMin = 0.03

export const recordPath = (name: string, { shares, ...origin }: ProfiledPath): void =>
  updateRecord<ProfiledPath>(
    'profile',
    (paths) => {
      paths[name] = { ...origin, shares: shares.map(({ what, share }) => ({ what, share: Number(share.toFixed(3)) })) }
    },
    (paths) => [tableOf(paths)],
  )

/** The table of docs/profile.md. */
export function tableOf(paths: Record<string, ProfiledPath>): string {
  const known = hotPaths.flatMap(({ name, what }) => (paths[name] ? [{ name, what, ...paths[name] }] : []))
  return [
    ...originLines(known),
    '',
    '| path | where the time goes | run at |',
    '|---|---|---|',
    ...known.map(({ name, what, shares, at = '' }) =>
      lineOf([
        `${what} (\`${name}\`)`,
        shares
          .filter(({ share }) => share >= shareMin)
          .map(shown)
          .join(', '),
        at,
      ]),
    ),
  ].join('\n')
}

const shown = ({ what, share }: Pick<Share, 'what' | 'share'>) => `${Math.round(share * 100)} % ${what}`
