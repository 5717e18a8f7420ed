import { createHash, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Shard } from './server.ts'

/** A payment that may be won once, and the part of the payers it belongs to. */
type Claim = { part: number; payer: Buffer; nonce: Buffer }
type Answer = { here: boolean; won: boolean }

const parts = 8
const copies = 4
const callers = 16
const staggerMs = 20

const partOf = (payer: Buffer): number => payer.readUInt32BE() % parts

/** Every server has all parts, and says of each whether it decides about it. */
async function createParts(shard: Shard, own: (part: number) => boolean): Promise<void> {
  await shard.pool.query(`create table claim_by_part (part int not null, payer bytea not null, nonce bytea not null,
    primary key (part, payer, nonce)) partition by list (part)`)
  await shard.pool.query('create table part_home (part int primary key, here boolean not null)')
  for (let part = 0; part < parts; part += 1) {
    await shard.pool.query(`create table claim_part_${part} partition of claim_by_part for values in (${part})`)
    await shard.pool.query('insert into part_home values ($1, $2)', [part, own(part)])
  }
}

/** Nobody can move a part away while a claim in it is under way: the row of its home is held until the commit. */
const claimSql = `with home as (select here from part_home where part = $1 for share),
  won as (insert into claim_by_part select $1, $2, $3 from home where here on conflict do nothing returning 1)
  select (select here from home) as here, exists (select from won) as won`

async function claim(shard: Shard, { part, payer, nonce }: Claim): Promise<Answer> {
  const { rows } = await shard.pool.query<Answer>({ name: 'claim-part', text: claimSql, values: [part, payer, nonce] })
  return rows[0] as Answer
}

export type Moved = { claims: number; wrong: number; moves: number; longestMs: number; stoppedMs: number[] }

/** Parts travel from one server to the other and back while callers claim in all of them, each payment several times. */
export async function moveUnderLoad(shards: readonly [Shard, Shard], moves: number): Promise<Moved> {
  await createParts(shards[0], () => true)
  await createParts(shards[1], () => false)
  const wins = new Map<string, number>()
  let [stopped, longestMs] = [false, 0]
  const send = async (one: Claim) => {
    // Copies that come while the part changes its home are what this is about.
    await sleep(randomInt(staggerMs))
    const startedMs = performance.now()
    // Callers do not know of a move: any of them may ask the wrong server first. Where no server has the part, its claims wait.
    for (let at = randomInt(shards.length); ; at = 1 - at) {
      const { here, won } = await claim(shards[at] as Shard, one)
      if (here) {
        if (won) wins.set(one.nonce.toString('hex'), (wins.get(one.nonce.toString('hex')) ?? 0) + 1)
        longestMs = Math.max(longestMs, performance.now() - startedMs)
        return
      }
      await sleep(2)
    }
  }
  let sent = 0
  const caller = async () => {
    while (!stopped) {
      const payer = createHash('sha256').update(randomBytes(2)).digest().subarray(0, 20)
      const one = { part: partOf(payer), payer, nonce: randomBytes(32) }
      sent += 1
      await Promise.all(Array.from({ length: copies }, () => send(one)))
    }
  }
  const calling = Promise.all(Array.from({ length: callers }, caller))
  const stoppedMs: number[] = []
  for (let move = 0; move < moves; move += 1) {
    const from = Math.floor(move / parts) % 2
    stoppedMs.push(await movePart(move % parts, shards[from] as Shard, shards[1 - from] as Shard))
  }
  stopped = true
  await calling
  const lost = await Promise.all(shards.map(({ pool }) => pool.query<{ n: number }>(countSql)))
  const kept = lost.reduce((all, { rows }) => all + (rows[0]?.n ?? 0), 0)
  const doubled = [...wins.values()].filter((count) => count > 1).length
  return {
    claims: sent,
    wrong: doubled + Math.abs(sent - wins.size) + Math.abs(sent - kept),
    moves,
    longestMs,
    stoppedMs,
  }
}

const countSql = 'select count(*)::int as n from claim_by_part join part_home using (part) where here'

/** By the engine's own means: a subscription copies the part and follows it; then its home changes. Returns how long it had none. */
async function movePart(part: number, from: Shard, to: Shard): Promise<number> {
  const [table, slot] = [`claim_part_${part}`, `move_${part}`]
  await to.pool.query(`truncate ${table}`)
  await from.pool.query(`create publication ${slot} for table ${table}`)
  await to.pool.query(`create subscription ${slot} connection '${from.url}' publication ${slot}`)
  // Copied, and what came meanwhile too.
  await until(to, `select from pg_subscription_rel where srsubstate = 'r' having count(*) = 1`)
  const startedMs = performance.now()
  await from.pool.query('update part_home set here = false where part = $1', [part])
  const { rows } = await from.pool.query<{ position: string }>('select pg_current_wal_lsn()::text as position')
  await until(
    from,
    `select from pg_replication_slots where slot_name = '${slot}' and confirmed_flush_lsn >= '${rows[0]?.position}'`,
  )
  await to.pool.query('update part_home set here = true where part = $1', [part])
  const withoutMs = performance.now() - startedMs
  await to.pool.query(`drop subscription ${slot}`)
  await from.pool.query(`drop publication ${slot}`)
  return withoutMs
}

async function until(shard: Shard, query: string): Promise<void> {
  const deadlineMs = performance.now() + 60_000
  while ((await shard.pool.query(query)).rowCount === 0) {
    if (performance.now() > deadlineMs) throw new Error(`waited a minute for: ${query}`)
    await sleep(5)
  }
}
