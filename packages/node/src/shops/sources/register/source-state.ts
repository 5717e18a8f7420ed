import type { Sql, Tx } from '@assay/till/store/database'
import type { SourceDeps } from '../deps.ts'
import { type ProofMethod, strengthOf } from '../proof/check-claim.ts'
import { requestCrawl } from './ask-for-work.ts'
import { keepNewcomer, type Newcomer } from './newcomers.ts'
import { type ClaimRow, liveClaims, type SourceRow } from './records.ts'
import { removeOwnCitations } from './remove-own-citations.ts'

/** A claim as it is after a check, with the way it is proven by now; without one its proof is gone. */
export type CheckedClaim = { claim: ClaimRow; method: ProofMethod | undefined }

/** What the check makes of the source. Returns the claims that are new. */
export async function settleState(
  deps: SourceDeps,
  tx: Tx,
  source: SourceRow,
  checked: readonly CheckedClaim[],
  newcomers: readonly Newcomer[],
): Promise<ClaimRow[]> {
  const holder = checked.find(({ claim }) => claim.state === 'proven')
  const waiting = checked.filter(({ claim }) => claim.state === 'waiting')
  if (!holder || (await expireHolder(deps, tx, source, holder)))
    return chooseHolder(deps, tx, source, waiting, newcomers)
  for (const { claim, method } of waiting) {
    if (method === undefined) await closeContest(deps, tx, claim, 'The proof of the newcomer is gone.')
    else if (!claim.consented && strengthOf(method) < strengthOf(holder.method))
      await closeContest(deps, tx, claim, 'The holder has a stronger proof.')
  }
  const added: ClaimRow[] = []
  for (const newcomer of newcomers) {
    const consented = holder.claim.agreed_wallet === newcomer.terms.wallet
    // A weaker proof cannot win: it must not hold up the payouts of the stronger one.
    if (!consented && strengthOf(newcomer.verdict.method) < strengthOf(holder.method)) continue
    const claim = await keepNewcomer(deps, tx, newcomer, consented)
    await openContest(deps, tx, source, claim)
    added.push(claim)
  }
  await settleHolder(deps, tx, source, holder.claim)
  return added
}

/** Without a holder, the claim with the strongest proof becomes it; weaker claims contest it or are closed. */
async function chooseHolder(
  deps: SourceDeps,
  tx: Tx,
  source: SourceRow,
  waiting: readonly CheckedClaim[],
  newcomers: readonly Newcomer[],
): Promise<ClaimRow[]> {
  const [known] = waiting
    .filter(({ method }) => method !== undefined)
    .sort((one, other) => strengthOf(other.method) - strengthOf(one.method))
  const [first] = newcomers
  if (!first && !known) {
    if (source.proven_claim === null)
      await setState(deps, tx, source.domain, 'proving', 'No way of proof shows the values of a claim yet.')
    return []
  }
  const added =
    first && strengthOf(first.verdict.method) > strengthOf(known?.method)
      ? await keepNewcomer(deps, tx, first, false)
      : undefined
  const claim = added ?? known?.claim
  if (!claim) return []
  await installHolder(deps, tx, source, claim)
  const method = added ? first?.verdict.method : known?.method
  const rest = newcomers.filter(({ terms }) => terms.wallet !== claim.wallet)
  const holder = { claim: { ...claim, state: 'proven' as const, failures: 0 }, method }
  const others = waiting.filter((one) => one.claim.id !== claim.id)
  return [...(added ? [added] : []), ...(await settleState(deps, tx, source, [holder, ...others], rest))]
}

/** A proof that did not come back: the domain may belong to somebody else by now, and is free to be proven. */
async function expireHolder(deps: SourceDeps, tx: Tx, source: SourceRow, holder: CheckedClaim): Promise<boolean> {
  if (holder.method !== undefined || holder.claim.failures < deps.settings.failuresUntilExpired) return false
  await tx.query('update source set proven_claim = null where domain = $1', [source.domain])
  await tx.query(`update source_claim set state = 'lost', next_check_at = null where id = $1`, [holder.claim.id])
  const reason = `The proof was not found ${holder.claim.failures} times and has expired; the domain can be proven again.`
  await setState(deps, tx, source.domain, 'proving', reason)
  return true
}

export async function installHolder(deps: SourceDeps, tx: Tx, source: SourceRow, claim: ClaimRow): Promise<void> {
  const now = new Date(deps.clock.nowMs())
  await tx.query(
    `update source_claim set state = 'superseded', takes_over_at = null where domain = $1 and state = 'proven'`,
    [source.domain],
  )
  await tx.query(
    `update source_claim set state = 'proven', takes_over_at = null, failures = 0, next_check_at = $2 where id = $1`,
    [claim.id, new Date(now.getTime() + deps.settings.recheckMs)],
  )
  await tx.query(
    `update source_dispute set state = 'upheld', closed_at = $2, outcome = 'The claim took over.' where claim_id = $1 and state = 'pending'`,
    [claim.id, now],
  )
  await tx.query('update source set proven_claim = $2 where domain = $1', [source.domain, claim.id])
  await removeOwnCitations(deps, tx, source.domain, claim.wallet)
  await setState(deps, tx, source.domain, 'proven', `Proven by ${claim.method ?? 'proof'}.`)
  await requestCrawl(tx, source.domain, deps.clock)
}

/** A second proof: with the paid wallet's consent a change after a delay, without it a dispute with notice. */
async function openContest(deps: SourceDeps, tx: Tx, source: SourceRow, claim: ClaimRow): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const waitMs = claim.consented ? deps.settings.walletDelayMs : deps.settings.noticeMs
  const until = new Date(nowMs + waitMs)
  await tx.query('update source_claim set takes_over_at = $2 where id = $1', [claim.id, until])
  if (claim.consented) return
  const again = await tx.query(
    `update source_dispute set state = 'pending', opened_at = $2, notice_until = $3, closed_at = null, outcome = null
     where claim_id = $1`,
    [claim.id, new Date(nowMs), until],
  )
  if (again.rowCount === 0)
    await tx.query(
      `insert into source_dispute (id, domain, kind, claim_id, statement, state, opened_at, notice_until)
       values ($1, $2, 'ownership', $3, 'A second claim has proven the domain.', 'pending', $4, $5)`,
      [deps.ids.next('dsp'), source.domain, claim.id, new Date(nowMs), until],
    )
}

export async function closeContest(deps: SourceDeps, tx: Tx, claim: ClaimRow, outcome: string): Promise<void> {
  await tx.query(`update source_claim set state = 'lost', takes_over_at = null, next_check_at = null where id = $1`, [
    claim.id,
  ])
  await tx.query(
    `update source_dispute set state = 'rejected', closed_at = $2, outcome = $3 where claim_id = $1 and state = 'pending'`,
    [claim.id, new Date(deps.clock.nowMs()), outcome],
  )
}

/** The state of a source with a holder: another contest may be pending, and the holder's own proof may be missing. */
export async function settleHolder(deps: SourceDeps, tx: Tx, source: SourceRow, holder: ClaimRow): Promise<void> {
  const { rows } = await tx.query<{ until: Date }>(
    `select notice_until as until from source_dispute
     where domain = $1 and claim_id is not null and state = 'pending' order by notice_until limit 1`,
    [source.domain],
  )
  const [dispute] = rows
  if (dispute)
    return setState(
      deps,
      tx,
      source.domain,
      'disputed',
      `Another claim has proven the domain too. On ${dispute.until.toISOString()} the newest DNS proof wins; without one the earlier claim stays while its proof is found.`,
    )
  if (holder.failures >= deps.settings.failuresUntilHeld)
    return setState(
      deps,
      tx,
      source.domain,
      'held',
      `The proof was not found ${holder.failures} times; publish it again and verify, then payouts go on.`,
    )
  const now = (await liveClaims(tx, source.domain)).find(({ id }) => id === holder.id)
  await setState(deps, tx, source.domain, 'proven', `Proven by ${now?.method ?? 'proof'}.`)
}

export async function setState(
  deps: Pick<SourceDeps, 'clock'>,
  sql: Sql,
  domain: string,
  state: SourceRow['state'],
  reason: string,
): Promise<void> {
  await sql.query(
    'update source set state = $2, state_reason = $3, updated_at = $4 where domain = $1 and (state, state_reason) is distinct from ($2, $3)',
    [domain, state, reason, new Date(deps.clock.nowMs())],
  )
}
