import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Rng } from '../kernel/random.ts'
import type { Database } from '../store/database.ts'

export type ChallengeSecret = { version: number; key: KeyObject }

/** Secrets that bind payment challenges. Processes of one database share them; versions overlap. */
export type ChallengeSecrets = {
  /** Makes new challenges. No I/O: a newer version is read in the background. */
  current(): ChallengeSecret
  /** Undefined for a version that was never made or is no longer kept. */
  of(version: number): Promise<ChallengeSecret | undefined>
}

const dayMs = 86_400_000
const keptMs = 8 * dayMs
const readEveryMs = 600_000
/** Anyone can name a version that does not exist. */
const askEveryMs = 1_000

type Deps = { database: Database; clock: Clock; rng: Rng; log: Log }
type Row = { version: number; secret: Buffer; made_at: Date }

export async function openChallengeSecrets(deps: Deps): Promise<ChallengeSecrets> {
  const { clock, log } = deps
  let known = await readSecrets(deps)
  let readAtMs = clock.monotonicMs()
  let askedAtMs = Number.NEGATIVE_INFINITY
  const refresh = async () => {
    known = await readSecrets(deps)
  }
  return {
    current() {
      const nowMs = clock.monotonicMs()
      if (nowMs - readAtMs >= readEveryMs) {
        readAtMs = nowMs
        refresh().catch((error: unknown) => log.warn({ error: String(error) }, 'challenge secrets were not read again'))
      }
      return known.newest
    },
    async of(version) {
      const found = known.all.get(version)
      const nowMs = clock.monotonicMs()
      if (found || version < known.newest.version || nowMs - askedAtMs < askEveryMs) return found
      // Another process may have made it since.
      askedAtMs = nowMs
      await refresh()
      return known.all.get(version)
    },
  }
}

/** The secrets in force, with a new one where the newest is older than a day. */
async function readSecrets({ database, clock, rng }: Deps) {
  const read = async () => {
    const { rows } = await database.query<Row>({
      name: 'challenge_secrets',
      text: 'select version, secret, made_at from challenge_secret order by version desc',
    })
    return rows
  }
  const nowMs = clock.nowMs()
  let rows = await read()
  if (rows[0] === undefined || nowMs - rows[0].made_at.getTime() >= dayMs) {
    // Two processes that do so at once end with one new version.
    await database.query(
      'insert into challenge_secret (version, secret, made_at) values ($1, $2, $3) on conflict do nothing',
      [(rows[0]?.version ?? 0) + 1, Buffer.from(rng.bytes(32)), new Date(nowMs)],
    )
    await database.query('delete from challenge_secret where made_at < $1', [new Date(nowMs - keptMs)])
    rows = await read()
  }
  const all = new Map(rows.map(({ version, secret }) => [version, { version, key: createSecretKey(secret) }]))
  const newest = all.get(rows[0]?.version ?? 0)
  if (!newest) throw new Error('there is no secret to make challenges with')
  return { all, newest }
}
