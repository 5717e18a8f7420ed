import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import type { Clock } from '@assay/till/kernel/clock'
import { base32, type Ids } from '@assay/till/kernel/ids'
import { Problem } from '@assay/till/kernel/problem'
import type { Database, Tx } from '@assay/till/store/database'
import type { DeliveryDeps } from './deliver.ts'
import { limitReached } from './problems.ts'

export type EndpointDeps = { database: Database; clock: Clock; ids: Ids; secret: Uint8Array }
export type Kind = 'webhook' | 'email'

const endpointsMax = 5
/** Nobody is written to more often than this in a day, no matter who asks for it; all mails to strangers together neither. */
const [challengesPerTarget, challengesInAll, codeTriesMax] = [3, 500, 5]

/** Follows from the secret of the node, so that it is stored nowhere. */
export function codeOf(secret: Uint8Array, id: string, challenge: number): string {
  return base32(createHmac('sha256', secret).update(`${id}:${challenge}`).digest()).slice(0, 16)
}

/** A new endpoint, or another challenge for one that was paused or never proven. */
export async function addEndpoint(deps: EndpointDeps, wallet: Address, kind: Kind, target: string): Promise<string> {
  const now = new Date(deps.clock.nowMs())
  return deps.database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 20))', [`notifications ${wallet}`])
    const { rows } = await tx.query<{ id: string; state: string; same: boolean }>(
      'select id, state, kind = $2 and target = $3 as same from notification_endpoint where wallet = $1',
      [wallet, kind, target],
    )
    const known = rows.find(({ same }) => same)
    if (known?.state === 'active') return known.id
    if (known === undefined && rows.length >= endpointsMax)
      throw limitReached(`A wallet has at most ${endpointsMax} endpoints.`)
    const blocked = await tx.query(
      `select from notification_endpoint where kind = $1 and target = $2 and state = 'paused' and reason = 'operator'`,
      [kind, target],
    )
    if (blocked.rowCount > 0) throw limitReached('The operator of this node sends nothing to this target.')
    await countChallenge(tx, target, now)
    const id = known?.id ?? deps.ids.next('nep')
    await tx.query(
      `insert into notification_endpoint (id, wallet, kind, target, state, created_at, changed_at)
       values ($1, $2, $3, $4, 'pending', $5, $5)
       on conflict (id) do update set state = 'pending', reason = '', challenge = notification_endpoint.challenge + 1,
         challenge_due = true, code_tries = 0, failing_since = null, waits_until = '-infinity', changed_at = $5`,
      [id, wallet, kind, target, now],
    )
    return id
  })
}

async function countChallenge(tx: Tx, target: string, now: Date): Promise<void> {
  await tx.query('lock table notification_challenge in share row exclusive mode')
  const { rows } = await tx.query<{ same: bigint; all: bigint }>(
    `select count(*) filter (where target = $1) as same, count(*) as all from notification_challenge where at > $2`,
    [target, new Date(now.getTime() - 86_400_000)],
  )
  if (Number(rows[0]?.same) >= challengesPerTarget || Number(rows[0]?.all) >= challengesInAll)
    throw new Problem('rate_limited', { detail: 'Too many challenges were sent today.', retryAfterSeconds: 3_600 })
  await tx.query('insert into notification_challenge (target, at) values ($1, $2)', [target, now])
}

/** True once the endpoint is active; a wrong code counts. */
export async function proveEndpoint(
  { database, clock, secret }: EndpointDeps,
  wallet: Address,
  id: string,
  code: string,
): Promise<'active' | 'wrong' | 'unknown'> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<{ state: string; challenge: number; code_tries: number }>(
      'select state, challenge, code_tries from notification_endpoint where id = $1 and wallet = $2 for update',
      [id, wallet],
    )
    const row = rows[0]
    if (row === undefined) return 'unknown'
    if (row.state === 'active') return 'active'
    const expected = Buffer.from(codeOf(secret, id, row.challenge))
    const given = Buffer.from(code)
    const right =
      row.state === 'pending' &&
      row.code_tries < codeTriesMax &&
      given.length === expected.length &&
      timingSafeEqual(given, expected)
    await tx.query(
      `update notification_endpoint set code_tries = code_tries + 1,
         state = case when $2 then 'active' else state end, changed_at = case when $2 then $3 else changed_at end where id = $1`,
      [id, right, new Date(clock.nowMs())],
    )
    return right ? 'active' : 'wrong'
  })
}

type Challenged = { id: string; kind: Kind; target: string; challenge: number }

/** Sends what was asked for; an answer that repeats the code proves the endpoint at once. */
export async function sendChallenges(deps: DeliveryDeps & { secret: Uint8Array }): Promise<void> {
  // Once, whatever becomes of it: the owner can ask again.
  const { rows } = await deps.database.query<Challenged>(
    `update notification_endpoint set challenge_due = false where id in
       (select id from notification_endpoint where challenge_due order by created_at limit 64 for update skip locked)
     returning id, kind, target, challenge`,
  )
  await Promise.all(
    rows.map(async ({ id, kind, target, challenge }) => {
      const outcome = await deps.channels[kind]?.challenge(target, codeOf(deps.secret, id, challenge))
      const status = outcome === undefined ? 'not offered' : 'detail' in outcome ? outcome.detail : outcome.status
      const now = new Date(deps.clock.nowMs())
      await deps.database.query(
        `update notification_endpoint set last_status = $2, last_at = $3,
           state = case when $4 and state = 'pending' then 'active' else state end, changed_at = $3
         where id = $1 and challenge = $5`,
        [id, `challenge: ${status}`, now, outcome?.status === 'proven', challenge],
      )
    }),
  )
}
