import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Database, Tx } from '@assay/till/store/database'
import type { Checked, Checker } from '../checker.ts'
import type { Verdict } from '../evaluate/types.ts'
import { describeEvent, historyOf } from '../report/describe-event.ts'
import { cleanText, validUntil } from '../show.ts'
import { loadCursor } from './store.ts'

/** A change of who controls a token, as it is published. */
export type ControlNews = {
  token: Address
  /** The same for the same change, however often it is read. */
  key: string
  payload: { [key: string]: Json }
  /** False for history that the index reads for the first time: nobody waited for it. */
  news: boolean
}

export type VerdictDeps = {
  database: Database
  clock: Clock
  log: Log
  chainId: number
  checker: Checker
  tokensPerRun: number
  /** In the transaction of the verdict. */
  publish?: ((tx: Tx, news: readonly ControlNews[]) => Promise<void>) | undefined
}

type Due = { token: Address; verdict: Verdict | null; published_block: bigint; attempts: number }

const [dayMs, retryMs] = [86_400_000, 60_000]
const attemptsMax = 5
const newsPerTokenMax = 500

/** Reads tokens again that changed, were never read, or were read long ago; a few at a time. */
export async function refreshVerdicts(deps: VerdictDeps): Promise<void> {
  const { database, chainId, clock } = deps
  const { rows } = await database.query<Due>(
    `select token, verdict, published_block, attempts from token_listed
     where chain_id = $1 and due_at <= $2 order by due_at limit $3`,
    [chainId, new Date(clock.nowMs()), deps.tokensPerRun],
  )
  for (const due of rows) {
    const checked = await deps.checker.check(due.token, { fresh: true }).catch((error: unknown) => {
      deps.log.warn({ token: due.token, error: String(error) }, 'a token of the list could not be read')
    })
    if (checked) await keepVerdict(deps, due, checked)
    else await postpone(deps, due)
  }
}

/** A verdict that cannot be read again does not stay: after a few attempts the token is UNKNOWN. */
async function postpone({ database, chainId, clock }: VerdictDeps, { token, attempts }: Due): Promise<void> {
  await database.query(
    `update token_listed set attempts = attempts + 1, due_at = $3,
       verdict = case when $4 then 'UNKNOWN' else verdict end, complete = case when $4 then false else complete end
     where chain_id = $1 and token = $2`,
    [chainId, token, new Date(clock.nowMs() + retryMs * 2 ** Math.min(attempts, 6)), attempts + 1 >= attemptsMax],
  )
}

async function keepVerdict(deps: VerdictDeps, due: Due, checked: Checked): Promise<void> {
  const { database, chainId } = deps
  await database.transaction(async (tx) => {
    const cursor = await loadCursor(tx, chainId)
    const { facts, evaluation } = checked
    // What is published is final; a list that was bound only now brings its whole past along.
    const until = cursor === undefined || cursor.toBlock > facts.block.number ? facts.block.number : cursor.toBlock
    const kept = await tx.query(
      `update token_listed set verdict = $3, complete = $4, verdict_block = $5, verdict_at = $6, name = $7, symbol = $8,
         published_block = greatest(published_block, $9), due_at = $10, attempts = 0
       where chain_id = $1 and token = $2 and published_block = $11 returning 1`,
      [
        chainId,
        due.token,
        evaluation.verdict,
        evaluation.complete,
        facts.block.number,
        new Date(facts.block.timestamp * 1000),
        facts.name.known ? cleanText(facts.name.value) : null,
        facts.symbol.known ? cleanText(facts.symbol.value) : null,
        until,
        new Date(nextCheckMs(deps, checked, until)),
        due.published_block,
      ],
    )
    if (kept.rows.length === 0) return
    await followPolicies(tx, chainId, checked)
    await deps.publish?.(tx, newsOf(due, checked, until))
  })
}

/** Once a day, and when a scheduled multiplier takes effect; soon where the chain has changes that are not final yet. */
function nextCheckMs({ clock }: VerdictDeps, { facts }: Checked, until: bigint): number {
  const nowMs = clock.nowMs()
  const last = historyOf(facts).at(-1)
  if (last !== undefined && last.blockNumber > until) return nowMs + retryMs
  const pending = facts.multiplier?.known ? facts.multiplier.value.pending : undefined
  return Math.min(nowMs + dayMs, pending === undefined ? Number.POSITIVE_INFINITY : validUntil(facts) * 1000 + 1_000)
}

async function followPolicies(tx: Tx, chainId: number, { facts }: Checked): Promise<void> {
  await tx.query('delete from token_policy where chain_id = $1 and token = $2', [chainId, facts.token])
  await tx.query(
    `insert into token_policy (chain_id, policy, token) select $1, 'policy:' || id, $2 from unnest($3::text[]) id`,
    [chainId, facts.token, [...facts.policies.keys()].map(String)],
  )
}

export function newsOf(due: Pick<Due, 'token' | 'verdict' | 'published_block'>, checked: Checked, until: bigint) {
  const { facts, evaluation } = checked
  const shared = {
    token: checksumAddress(due.token),
    verdict_before: due.verdict,
    verdict_after: evaluation.verdict,
    complete: evaluation.complete,
    verdict_block_number: facts.block.number.toString(),
  }
  const news = due.verdict !== null
  const logged = historyOf(facts)
    .filter((event) => event.blockNumber > due.published_block && event.blockNumber <= until)
    .slice(-newsPerTokenMax)
    .map((event): ControlNews => {
      const payload = { ...describeEvent(event), ...shared }
      return { token: due.token, key: `${event.blockHash}:${event.logIndex}`, payload, news }
    })
  if (due.verdict === null || due.verdict === evaluation.verdict) return logged
  const text = `The verdict was ${due.verdict} and is ${evaluation.verdict}.`
  const place = { block_number: facts.block.number.toString(), block_hash: facts.block.hash }
  const payload = { kind: 'verdict_changed', text, ...place, transaction: null, log_index: null, ...shared }
  return [...logged, { token: due.token, key: `verdict:${facts.block.hash}`, payload, news: true }]
}
